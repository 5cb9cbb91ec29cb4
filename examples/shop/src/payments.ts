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
  async payOrder({ path: { orderId }, body }) {
    const method = withoutSecrets(body);
    const id = randomUUID();
    const details = JSON.stringify(method);
    const cents = await database.transaction().execute(async (transaction) => {
      // Locks the order: a concurrent payment waits until this transaction ends.
      const order = await orders.update(transaction, orderId, 'open');
      const earlier = await transaction
        .selectFrom('payments')
        .select('id')
        .where('orderId', '=', orderId)
        .executeTakeFirst();
      if (earlier !== undefined) throw new Conflict('payment-exists', 'the order has a payment');
      await transaction
        .insertInto('payments')
        .values({ ...order, id, orderId, state: 'pending', method: method.method, details })
        .execute();
      return order.cents;
    });
    return { status: 201, body: { id, orderId, amount: euros(cents), state: 'pending', method } };
  },

  async notifyPayment({ body: { paymentId, state } }) {
    // The provider repeats a notification until it gets 204, so each of a known payment succeeds.
    // The money for a cancelled order has to be returned: its payment is received, too.
    await database.transaction().execute(async (transaction) => {
      const payment = await transaction
        .updateTable('payments')
        .set({ state })
        .where('id', '=', paymentId)
        .returning('orderId')
        .executeTakeFirst();
      if (payment === undefined) throw notFound('payment');
      await transaction
        .updateTable('orders')
        .set({ status: 'paid' })
        .where('id', '=', payment.orderId)
        .where('status', '=', 'open')
        .execute();
    });
    return { status: 204 };
  },
});
