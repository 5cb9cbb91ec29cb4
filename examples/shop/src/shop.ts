import compression from 'compression';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { type AnyAround, type Backend, HttpError } from 'spec-first-server';
import type { Handlers } from '../generated/openapi.ts';
import { customerHandlers } from './customers.ts';
import { openDatabase } from './database.ts';
import { documentHandlers } from './documents.ts';
import { createOrders, orderHandlers } from './orders.ts';
import { ownerCheck } from './owners.ts';
import { paymentHandlers } from './payments.ts';
import { productHandlers } from './products.ts';
import { createReports } from './reports.ts';

export interface ShopSettings {
  readonly databaseUrl: string;
  /** The maximum number of requests per customer and minute. */
  readonly requestsPerMinute: number;
  readonly onError: (error: unknown) => void;
}

/** Opens the shop: its database, its handlers and its jobs. */
export async function openShop({ databaseUrl, requestsPerMinute, onError }: ShopSettings) {
  const database = await openDatabase(databaseUrl);
  const orders = createOrders(database);
  const reports = createReports(database, onError);
  reports.start();

  const handlers: Handlers = {
    ...customerHandlers(database),
    ...productHandlers(database),
    ...orderHandlers(database, orders),
    ...paymentHandlers(database, orders),
    ...documentHandlers(database),
    ...reports.handlers,
  };
  const ready = async () => {
    await database.selectFrom('reports').select('id').limit(1).execute();
  };
  const limit = limitPerCustomer(requestsPerMinute);
  const checkOwner = ownerCheck(database);
  return {
    handlers,
    around: (operation, request, next) =>
      limit(operation, request, () =>
        reportOutages(async () => {
          await checkOwner(request);
          return next();
        }, ready),
      ),
    use: [compression()],
    ready,
    location: databaseUrl.startsWith('sqlite:') ? databaseUrl : 'PostgreSQL',
    async close() {
      await reports.finished();
      await database.destroy();
    },
  } satisfies Backend;
}

/** Responds with 503 instead of 500 if a request failed because the database is not ready. */
async function reportOutages<Reply>(
  next: () => Promise<Reply>,
  ready: () => Promise<void>,
): Promise<Reply> {
  try {
    return await next();
  } catch (error) {
    if (error instanceof HttpError) throw error;
    await ready().catch((cause: unknown) => {
      const headers = { 'Retry-After': 5 };
      throw new HttpError(503, 'the database is not ready: try again later', { cause, headers });
    });
    throw error;
  }
}

/** Runs after authentication. */
function limitPerCustomer(points: number): AnyAround {
  const limiter = new RateLimiterMemory({ points, duration: 60 });
  return async (_operation, { caller }, next) => {
    if (caller?.subject === undefined) return next();
    try {
      await limiter.consume(caller.subject);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      const seconds = Math.ceil(error.msBeforeNext / 1000);
      throw new HttpError(429, 'too many requests', { headers: { 'Retry-After': seconds } });
    }
    return next();
  };
}
