import { randomUUID } from 'node:crypto';
import { EventEmitter, on } from 'node:events';
import { stringifyJson } from 'spec-first-server';
import type { Handlers, OrderStatus } from '../generated/openapi.ts';
import type { Database } from './database.ts';
import { Conflict, notFound } from './errors.ts';
import { euros } from './money.ts';
import { keyIn, pageOf } from './pages.ts';

type OrderOperations = 'listOrders' | 'createOrder' | 'getOrder' | 'cancelOrder' | 'watchOrder';

export type Orders = ReturnType<typeof createOrders>;

/** Creates functions that read and close orders, and an emitter of committed changes. */
export function createOrders(database: Database) {
  const changes = new EventEmitter<Record<string, [OrderStatus]>>().setMaxListeners(0);

  return {
    changes,

    /** Returns an order of a customer. @throws {HttpError} 404 */
    async find(id: string, customerId: string | undefined) {
      const order = await database
        .selectFrom('orders')
        .selectAll()
        .where('id', '=', id)
        .where('customerId', '=', customerId ?? '')
        .executeTakeFirst();
      if (order === undefined) throw notFound('order');
      const lines = await database
        .selectFrom('orderLines')
        .selectAll()
        .where('orderId', '=', id)
        .execute();
      return {
        ...order,
        deliverOn: order.deliverOn ?? undefined,
        total: euros(order.cents),
        lines: lines.map((line) => ({ ...line, price: euros(line.cents) })),
      };
    },

    /**
     * Ends an open order.
     *
     * @param connection the database, or a transaction of it.
     * @throws {Conflict} if the order is not open.
     */
    async close(connection: Database, id: string, status: 'paid' | 'cancelled'): Promise<void> {
      const { numUpdatedRows } = await connection
        .updateTable('orders')
        .set({ status })
        .where('id', '=', id)
        .where('status', '=', 'open')
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 0n)
        throw new Conflict('order-closed', 'the order is paid or cancelled');
    },
  };
}

export function orderHandlers(database: Database, orders: Orders): Pick<Handlers, OrderOperations> {
  return {
    async listOrders({ caller, query: { status, cursor, limit } }) {
      let query = database
        .selectFrom('orders')
        .select('id')
        .where('customerId', '=', caller.subject ?? '')
        .orderBy('id', 'desc');
      if (status !== undefined) query = query.where('status', '=', status);
      if (cursor !== undefined) query = query.where('id', '<', keyIn(cursor));
      const rows = await query.limit(limit + 1).execute();
      const { items, next } = pageOf(rows, limit, ({ id }) => id);
      const page = await Promise.all(items.map(({ id }) => orders.find(id, caller.subject)));
      return { status: 200, body: { items: page, next } };
    },

    async createOrder({ caller, header, body }) {
      const { lines, note = null, deliverOn = null } = body;
      const request = stringifyJson(body) ?? '';
      const customerId = caller.subject ?? '';
      const idempotencyKey = header['Idempotency-Key'];
      const id = await database.transaction().execute(async (transaction) => {
        const earlier = await transaction
          .selectFrom('orders')
          .select(['id', 'request'])
          .where('customerId', '=', customerId)
          .where('idempotencyKey', '=', idempotencyKey)
          .executeTakeFirst();
        if (earlier !== undefined) {
          if (earlier.request === request) return earlier.id;
          throw new Conflict('key-reused', 'the idempotency key belongs to another order');
        }

        const order = randomUUID();
        const priced = [];
        for (const { productId, quantity } of lines) {
          const product = await transaction
            .updateTable('products')
            .set((expression) => ({ stock: expression('stock', '-', quantity) }))
            .where('id', '=', productId)
            .where('stock', '>=', quantity)
            .returning('cents')
            .executeTakeFirst();
          if (product === undefined) {
            throw new Conflict(
              'out-of-stock',
              `product ${productId} has a stock of less than ${quantity}`,
            );
          }
          priced.push({ orderId: order, productId, quantity, cents: product.cents });
        }
        const cents = priced.reduce((sum, line) => sum + line.cents * line.quantity, 0);
        await transaction
          .insertInto('orders')
          .values({
            id: order,
            customerId,
            status: 'open',
            cents,
            note,
            deliverOn,
            placedAt: new Date().toISOString(),
            idempotencyKey,
            request,
          })
          .execute();
        await transaction.insertInto('orderLines').values(priced).execute();
        return order;
      });
      const order = await orders.find(id, customerId);
      return { status: 201, headers: { Location: `/v1/orders/${id}` }, body: order };
    },

    async getOrder({ caller, path: { orderId } }) {
      return { status: 200, body: await orders.find(orderId, caller.subject) };
    },

    async cancelOrder({ caller, path: { orderId } }) {
      await orders.find(orderId, caller.subject);
      await orders.close(database, orderId, 'cancelled');
      orders.changes.emit(orderId, 'cancelled');
      return { status: 200, body: await orders.find(orderId, caller.subject) };
    },

    async watchOrder({ caller, path: { orderId }, signal }) {
      const { status } = await orders.find(orderId, caller.subject);
      async function* events() {
        const changes = on(orders.changes, orderId, { signal });
        yield event(status);
        if (status !== 'open') return;
        for await (const [change] of changes) {
          yield event(change);
          return;
        }
      }
      return { status: 200, body: events() };
    },
  };
}

const event = (status: OrderStatus) => ({
  event: 'status' as const,
  data: { status, at: new Date() },
});
