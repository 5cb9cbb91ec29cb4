import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Selectable } from 'kysely';
import { stringifyJson } from 'spec-first-server';
import type { Handlers, OrderLine, OrderStatus } from '../generated/openapi.ts';
import { customerOf } from './customers.ts';
import type { Database, Tables } from './database.ts';
import { Conflict, notFound } from './errors.ts';
import { euros } from './money.ts';
import { keyIn, pageOf } from './pages.ts';
import { changeStock } from './products.ts';

type OrderOperations = 'listOrders' | 'createOrder' | 'getOrder' | 'cancelOrder' | 'watchOrder';

const WATCH_MS = 1000;

export type Orders = ReturnType<typeof createOrders>;

export function createOrders(database: Database) {
  /** Adds the lines of several orders with one query. */
  async function withLines(orders: readonly Selectable<Tables['orders']>[]) {
    if (orders.length === 0) return [];
    const ids = orders.map(({ id }) => id);
    const lines = await database
      .selectFrom('orderLines')
      .selectAll()
      .where('orderId', 'in', ids)
      .orderBy('position')
      .execute();
    const linesById = Map.groupBy(lines, ({ orderId }) => orderId);
    return orders.map((order) => ({
      ...order,
      deliverOn: order.deliverOn ?? undefined,
      total: euros(order.cents),
      lines: (linesById.get(order.id) ?? []).map((line) => ({ ...line, price: euros(line.cents) })),
    }));
  }

  return {
    withLines,

    /** @throws {HttpError} 404 */
    async find(id: string) {
      const rows = await database.selectFrom('orders').selectAll().where('id', '=', id).execute();
      const [order] = await withLines(rows);
      if (order === undefined) throw notFound('order');
      return order;
    },

    /**
     * Sets the status of an open order. The order is locked until the transaction ends, also if
     * its status is still `open`.
     *
     * @throws {Conflict} if the order is not open.
     */
    async update(transaction: Database, id: string, status: OrderStatus) {
      const order = await transaction
        .updateTable('orders')
        .set({ status })
        .where('id', '=', id)
        .where('status', '=', 'open')
        .returning('cents')
        .executeTakeFirst();
      if (order !== undefined) return order;
      throw new Conflict('order-closed', 'the order is paid or cancelled');
    },
  };
}

export function orderHandlers(database: Database, orders: Orders): Pick<Handlers, OrderOperations> {
  return {
    async listOrders({ caller, query: { status, cursor, limit } }) {
      let query = database
        .selectFrom('orders')
        .selectAll()
        .where('customerId', '=', customerOf(caller))
        .orderBy('number', 'desc');
      if (status !== undefined) query = query.where('status', '=', status);
      if (cursor !== undefined) query = query.where('number', '<', keyIn(cursor));
      const rows = await query.limit(limit + 1).execute();
      const { items, next } = pageOf(rows, limit, ({ number }) => number);
      return { status: 200, body: { items: await orders.withLines(items), next } };
    },

    async createOrder({ caller, header, body }) {
      const { lines, note = null, deliverOn = null } = body;
      const request = stringifyJson(body);
      const customerId = customerOf(caller);
      const idempotencyKey = header['Idempotency-Key'];
      const id = await database.transaction().execute(async (transaction) => {
        // Inserted first: a concurrent request with the same key waits until this transaction ends.
        const order = await transaction
          .insertInto('orders')
          .values({
            id: randomUUID(),
            customerId,
            status: 'open',
            cents: 0,
            note,
            deliverOn,
            placedAt: new Date().toISOString(),
            idempotencyKey,
            request,
          })
          .onConflict((conflict) => conflict.columns(['customerId', 'idempotencyKey']).doNothing())
          .returning('id')
          .executeTakeFirst();
        if (order === undefined) {
          const earlier = await transaction
            .selectFrom('orders')
            .select(['id', 'request'])
            .where('customerId', '=', customerId)
            .where('idempotencyKey', '=', idempotencyKey)
            .executeTakeFirstOrThrow();
          if (earlier.request === request) return earlier.id;
          throw new Conflict('key-reused', 'the idempotency key belongs to another order');
        }

        const priced = [];
        const numbered = lines.map((line, position) => ({ ...line, position }));
        for (const { productId, quantity, position } of numbered.toSorted(byProduct)) {
          const cents = await changeStock(transaction, productId, -quantity);
          priced.push({ orderId: order.id, position, productId, quantity, cents });
        }
        await transaction.insertInto('orderLines').values(priced).execute();
        const cents = priced.reduce((sum, line) => sum + line.cents * line.quantity, 0);
        await transaction.updateTable('orders').set({ cents }).where('id', '=', order.id).execute();
        return order.id;
      });
      const order = await orders.find(id);
      return { status: 201, headers: { Location: `/v1/orders/${id}` }, body: order };
    },

    async getOrder({ path: { orderId } }) {
      return { status: 200, body: await orders.find(orderId) };
    },

    async cancelOrder({ path: { orderId } }) {
      const { lines } = await orders.find(orderId);
      await database.transaction().execute(async (transaction) => {
        await orders.update(transaction, orderId, 'cancelled');
        for (const { productId, quantity } of lines.toSorted(byProduct)) {
          await changeStock(transaction, productId, quantity);
        }
      });
      return { status: 200, body: await orders.find(orderId) };
    },

    async watchOrder({ path: { orderId }, signal }) {
      let { status } = await orders.find(orderId);
      async function* events() {
        yield event(status);
        // Reads the order again each second, since another process may change it.
        while (status === 'open') {
          await delay(WATCH_MS, undefined, { signal });
          ({ status } = await orders.find(orderId));
          if (status !== 'open') yield event(status);
        }
      }
      return { status: 200, body: events() };
    },
  };
}

/** Compares lines by product id. Changing products by ascending id prevents deadlocks. */
const byProduct = (left: OrderLine, right: OrderLine): number =>
  Number(left.productId > right.productId) - Number(left.productId < right.productId);

const event = (status: OrderStatus) => ({
  event: 'status' as const,
  data: { status, at: new Date() },
});
