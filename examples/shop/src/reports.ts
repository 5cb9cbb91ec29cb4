import { randomUUID } from 'node:crypto';
import type { Handlers } from '../generated/openapi.ts';
import type { Database } from './database.ts';
import { notFound } from './errors.ts';
import { euros } from './money.ts';

/** Creates the handlers of reports. Reports are created in the background, one after the other. */
export function createReports(database: Database, onError: (error: unknown) => void) {
  let work = Promise.resolve();

  async function create(id: string, from: string, to: string): Promise<void> {
    const row = await database
      .selectFrom('orders')
      .select((expression) => expression.fn.sum<number | null>('cents').as('cents'))
      .where('status', '=', 'paid')
      .where('placedAt', '>=', from)
      .where('placedAt', '<', `${to}T24:00:00Z`)
      .executeTakeFirst();
    const cents = Number(row?.cents ?? 0);
    await database
      .updateTable('reports')
      .set({ state: 'done', cents })
      .where('id', '=', id)
      .execute();
  }

  const start = (id: string, from: string, to: string): void => {
    work = work.then(() => create(id, from, to)).catch(onError);
  };

  const handlers: Pick<Handlers, 'startReport' | 'getReport'> = {
    async startReport({ body: { from, to } }) {
      const report = { id: randomUUID(), state: 'running' as const, from, to };
      await database
        .insertInto('reports')
        .values({ ...report, cents: null })
        .execute();
      start(report.id, from, to);
      return { status: 202, headers: { Location: `/v1/reports/${report.id}` }, body: report };
    },

    async getReport({ path: { reportId } }) {
      const row = await database
        .selectFrom('reports')
        .selectAll()
        .where('id', '=', reportId)
        .executeTakeFirst();
      if (row === undefined) throw notFound('report');
      const revenue = row.cents === null ? undefined : euros(row.cents);
      return { status: 200, body: { ...row, revenue } };
    },
  };

  return {
    handlers,

    /** Restarts reports that were interrupted by a stop. */
    async resume(): Promise<void> {
      const running = await database
        .selectFrom('reports')
        .selectAll()
        .where('state', '=', 'running')
        .execute();
      for (const { id, from, to } of running) start(id, from, to);
    },

    /** Resolves when all started reports are done. */
    finished: () => work,
  };
}
