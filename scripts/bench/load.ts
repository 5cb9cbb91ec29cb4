/** The load, as a process of its own: does what its parent tells it, one order after the other, and ends with it. */
import { fire, type Order } from './fire.ts';

process.on('message', async (order: Order) => process.send?.(await fire(order)));
process.on('disconnect', () => process.exit());
