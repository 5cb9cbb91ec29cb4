/** The load in a process of its own. It runs the orders of its parent one after the other and ends with it. */
import { fire, type Order } from './fire.ts';

process.on('message', async (order: Order) => process.send?.(await fire(order)));
process.on('disconnect', () => process.exit());
