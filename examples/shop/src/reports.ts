import { randomUUID } from 'node:crypto';
import type { Handlers } from '../generated/openapi.ts';
import type { Database } from './database.ts';
import { notFound } from './errors.ts';
import { euros } from './money.ts';

/** Creates the handlers of reports. Reports are created in the background, one after the other. */
export function createReports(database: Database, onError: (error: unknown) => void) {
  let work = Promise.resolve();

  async function create(id: string, from: string, to: string): Promise<void> {
    // Days of UTC, in a form that SQLite can compare with other times as text.
    const row = await database
      .selectFrom('orders')
      .select((expression) => expression.fn.sum<number | null>('cents').as('cents'))
      .where('status', '=', 'paid')
      .where('placedAt', '>=', `${from}T00:00:00.000Z`)
      .where('placedAt', '<', `${to}T24:00:00Z`)
      .executeTakeFirst();
    const cents = Number(row?.cents ?? 0);
    await database
      .updateTable('reports')
      .set({ state: 'done', cents })
      .where('id', '=', id)
      .execute();
  }

  /** Creates all reports that are not done, even those that a stop or a failure interrupted. */
  async function createAll(): Promise<void> {
    const running = await database
      .selectFrom('reports')
      .selectAll()
      .where('state', '=', 'running')
      .execute();
    for (const { id, from, to } of running) await create(id, from, to).catch(onError);
  }

  function start(): void {
    work = work.then(createAll).catch(onError);
  }

  const handlers: Pick<Handlers, 'startReport' | 'getReport'> = {
    async startReport({ body: { from, to } }) {
      const report = { id: randomUUID(), state: 'running' as const, from, to };
      await database
        .insertInto('reports')
        .values({ ...report, cents: null })
        .execute();
      start();
      return { status: 202, headers: { Location: `/v1/reports/${report.id}` }, body: report };
    },

    async getReport({ path: { reportId } }) {
      const row = await database
        .selectFrom('reports')
        .selectAll()
        .where('id', '=', reportId)
        .executeTakeFirst();
      if (row === undefined) throw notFound('report');
      if (row.state === 'running') start();
      const revenue = row.cents === null ? undefined : euros(row.cents);
      return { status: 200, body: { ...row, revenue } };
    },
  };

  return {
    handlers,

    start,

    /** Resolves when all started reports are done or have failed. */
    finished: () => work,
  };
}
