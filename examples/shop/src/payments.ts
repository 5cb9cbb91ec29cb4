import { randomUUID } from 'node:crypto';
import type { Handlers, PaymentMethodWritable } from '../generated/openapi.ts';
import type { Database } from './database.ts';
import { Conflict, notFound } from './errors.ts';
import { euros } from './money.ts';
import type { Orders } from './orders.ts';

function withoutSecrets(payment: PaymentMethodWritable) {
  if (payment.method !== 'card') return payment;
  return {
    method: payment.method,
    lastDigits: payment.token.replace(/\D/g, '').padStart(4, '0').slice(-4),
  };
}

export const paymentHandlers = (
  database: Database,
  orders: Orders,
): Pick<Handlers, 'payOrder' | 'notifyPayment'> => ({
  async payOrder({ caller, path: { orderId }, body }) {
    const { status, cents } = await orders.find(orderId, caller);
    if (status !== 'open') throw new Conflict('order-closed', 'the order is paid or cancelled');
    const method = withoutSecrets(body);
    const id = randomUUID();
    const details = JSON.stringify(method);
    await database
      .insertInto('payments')
      .values({ id, orderId, cents, state: 'pending', method: method.method, details })
      .execute();
    return { status: 201, body: { id, orderId, amount: euros(cents), state: 'pending', method } };
  },

  async notifyPayment({ body: { paymentId, state } }) {
    const isNew = await database.transaction().execute(async (transaction) => {
      const pending = await transaction
        .updateTable('payments')
        .set({ state })
        .where('id', '=', paymentId)
        .where('state', '=', 'pending')
        .returning('orderId')
        .executeTakeFirst();
      if (pending !== undefined) await orders.close(transaction, pending.orderId, 'paid');
      return pending !== undefined;
    });
    if (isNew) return { status: 204 };
    // The provider repeats a notification until it gets a response.
    const earlier = await database
      .selectFrom('payments')
      .select('id')
      .where('id', '=', paymentId)
      .executeTakeFirst();
    if (earlier === undefined) throw notFound('payment');
    return { status: 204 };
  },
});
