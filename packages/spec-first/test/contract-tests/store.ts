import { randomUUID } from 'node:crypto';
import { type AnyHandler, HttpError } from 'spec-first-server';

export const STORE_FAULTS = [
  'missing 404',
  'missing header',
  'crash on one enum value',
  'crash on two items',
  'wrong date format',
  'PATCH keeps nothing',
  'DELETE deletes nothing',
  'voucher crash',
  'rounded int64',
  'lost second page',
  'created but not stored',
  'note not stored',
] as const;

export type StoreFault = (typeof STORE_FAULTS)[number];

interface Order {
  readonly id: string;
  readonly number: unknown;
  readonly channel: unknown;
  readonly lines: readonly unknown[];
  note?: unknown;
  state: string;
  readonly placedOn: string;
  version: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns handlers of `store.yaml` with these faults. */
export function storeHandlers(...faults: readonly StoreFault[]): Record<string, AnyHandler> {
  const has = (fault: StoreFault) => faults.includes(fault);
  const orders = new Map<string, Order>();
  const payments = new Map<string, Order>();
  const find = (id: unknown): Order => {
    const order = orders.get(String(id));
    if (order === undefined) throw new HttpError(404, 'there is no such order');
    return order;
  };
  const bodyOf = ({ version: _, ...order }: Order) => order;
  const replyWith = (status: number, order: Order) => ({
    status,
    headers: has('missing header') && status === 201 ? {} : { ETag: `"${order.version}"` },
    body: bodyOf(order),
  });

  return {
    createOrder({ body }) {
      const { number, channel, lines, note } = body as Fields & { lines: unknown[] };
      if (has('crash on one enum value') && channel === 'phone') throw new TypeError('phone');
      if (has('crash on two items') && lines.length === 2) throw new TypeError('two');
      const order: Order = {
        id: randomUUID(),
        number: has('rounded int64') ? BigInt(Math.trunc(Number(number) / 10) * 10) || 1 : number,
        channel,
        lines,
        ...(!has('note not stored') && note !== undefined && { note }),
        state: 'open',
        placedOn: has('wrong date format') ? new Date().toISOString() : '2026-01-31',
        version: 1,
      };
      if (!has('created but not stored')) orders.set(order.id, order);
      return replyWith(201, order);
    },
    getOrder({ path }) {
      const order = find(path.orderId);
      return replyWith(200, order);
    },
    listOrders({ query: { limit, cursor } }) {
      const list = [...orders.values()];
      const last = list.findIndex(({ id }) => id === cursor);
      if (cursor !== undefined && last === -1) throw new HttpError(400, 'unknown cursor');
      const items = list.slice(last + 1, last + 1 + Number(limit));
      const isMore = items.length > 0 && items.at(-1) !== list.at(-1);
      const next = isMore && !has('lost second page') ? items.at(-1)?.id : null;
      return { status: 200, body: { items: items.map(bodyOf), next } };
    },
    changeOrder({ path, header, body }) {
      const order = find(path.orderId);
      if (header['If-Match'] !== `"${order.version}"`)
        throw new HttpError(412, 'changed meanwhile');
      if (!has('PATCH keeps nothing')) order.note = (body as Fields).note;
      order.version += 1;
      return replyWith(200, order);
    },
    deleteOrder({ path }) {
      const order = has('missing 404') ? orders.get(String(path.orderId)) : find(path.orderId);
      if (order === undefined) throw new TypeError('no order');
      if (!has('DELETE deletes nothing')) orders.delete(order.id);
      return { status: 204 };
    },
    payOrder({ path, body }) {
      const order = find(path.orderId);
      if (order.state !== 'open') throw new HttpError(409, 'the order is closed');
      if (has('voucher crash') && (body as Fields).kind === 'Voucher')
        throw new TypeError('voucher');
      const id = randomUUID();
      payments.set(id, order);
      return { status: 201, body: { id, state: 'pending' } };
    },
    notify({ body }) {
      const order = payments.get(String((body as Fields).paymentId));
      if (order === undefined) throw new HttpError(404, 'there is no such payment');
      order.state = 'paid';
      return { status: 204 };
    },
    cancelOrder({ path }) {
      const order = find(path.orderId);
      if (order.state !== 'open') throw new HttpError(409, 'the order is closed');
      order.state = 'cancelled';
      order.version += 1;
      return replyWith(200, order);
    },
  };
}
