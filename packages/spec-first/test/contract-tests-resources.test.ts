import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type AnyHandler, createApp, HttpError } from 'spec-first-server';
import { withFiles } from 'test-support/documents';
import { testLog } from '../src/contract-tests/contract-tests.ts';
import { failedTests } from './contract-tests/failed-tests.ts';

const document = join(import.meta.dirname, 'contract-tests/bookings.yaml');
const GET = 'GET /bookings/{bookingId} (getBooking) follows the document';

function bookings(replaced: Record<string, AnyHandler> = {}) {
  const invoices = new Map<number, string>();
  // No test tries this number by chance.
  let lastId = 1_234_567;
  const successful = new Set<string>();
  const booking = (id: number) => ({
    id,
    createdAt: '2026-01-01T00:00:00Z',
    invoice: `invoice ${id}`,
  });
  const find = (name: string, path: Readonly<Record<string, unknown>>) => {
    const id = Number(path.bookingId);
    if (!invoices.has(id)) throw new HttpError(404, 'no such booking');
    successful.add(name);
    return id;
  };
  const handlers: Record<string, AnyHandler> = {
    createBooking() {
      lastId += 1;
      const id = lastId;
      invoices.set(id, `invoice ${id}`);
      return { status: 201, body: booking(id) };
    },
    getBooking: ({ path }) => ({ status: 200, body: booking(find('get', path)) }),
    updateBooking({ path }) {
      find('update', path);
      return { status: 204 };
    },
    deleteBooking({ path }) {
      invoices.delete(find('delete', path));
      return { status: 204 };
    },
    getInvoice({ path }) {
      if (![...invoices.values()].includes(String(path.number)))
        throw new HttpError(404, 'no such invoice');
      successful.add('invoice');
      return { status: 204 };
    },
    ...replaced,
  };
  return { handlers, successful };
}

describe('contract tests', () => {
  test('create a booking, and get, update and delete it by the id in the response', async () => {
    const { handlers, successful } = bookings();
    const options = { document, app: createApp({ document, handlers }), mayReject: ['getInvoice'] };
    expect(await failedTests(options)).toEqual({});
    expect([...successful].sort()).toEqual(['delete', 'get', 'update']);
  });

  test('take an id from the Location header of a response', async () => {
    const created: AnyHandler = () => ({
      status: 201,
      headers: { Location: '/bookings/77' },
      body: { id: 1, createdAt: '2026-01-01T00:00:00Z', invoice: '' },
    });
    let isCalled = false;
    const getBooking: AnyHandler = ({ path }) => {
      isCalled ||= path.bookingId === 77;
      return { status: 404 };
    };
    const { handlers } = bookings({ createBooking: created, getBooking });
    await failedTests({ document, app: createApp({ document, handlers }) }, 'getBooking');
    expect(isCalled).toBe(true);
  });

  test('find an invalid response of an operation that needs an id, and show the logged reason', async () => {
    const getBooking: AnyHandler = ({ path }) =>
      Number(path.bookingId) > 1_000_000
        ? { status: 200, body: { id: 5, createdAt: 'yesterday', invoice: '' } }
        : { status: 404 };
    const { handlers } = bookings({ getBooking });
    const log = testLog();
    const failed = await failedTests({
      document,
      app: createApp({ document, handlers, log }),
      log,
    });
    expect(failed[GET]).toMatch(
      /log: {6}getBooking answered 200: \/body\/createdAt must match format "date-time"\n/,
    );
  });

  test('fail for an operation that never succeeds, skip one without a handler, and count both', async () => {
    const stub: AnyHandler = () => {
      throw new HttpError(501, 'not implemented yet');
    };
    const { handlers } = bookings({ updateBooking: stub, getInvoice: () => ({ status: 404 }) });
    let summary = '';
    const report = (text: string) => {
      summary = text;
    };
    const app = createApp({ document, handlers });
    const failed = await failedTests({ document, app, report });
    const [title] = Object.keys(failed);
    expect(Object.keys(failed)).toEqual([
      'GET /invoices/{number} (getInvoice) follows the document',
    ]);
    expect(failed[String(title)]).toMatch(
      /reason: {3}(\d+) of \1 valid requests have the status 404: add an example of a successful request to the document, add data in `seed`, or add getInvoice to `mayReject`\n/,
    );
    expect(summary).toMatch(
      /^Contract tests: 3 of 5 operations succeeded at least once\. CONTRACT_SEED=\d+\n/,
    );
    expect(summary).toMatch(
      /^ {2}POST \/bookings \(createBooking\): \d+ requests, (\d+) of \1 valid ones succeeded \(\1 × 201\)$/m,
    );
    expect(summary).toMatch(
      /^ {2}GET \/invoices\/\{number\} \(getInvoice\): \d+ requests, 0 of (\d+) valid ones succeeded \(\1 × 404\): add examples or `seed`$/m,
    );
    expect(summary).toMatch(
      /^1 skipped, not implemented \(501\):\n {2}PUT \/bookings\/\{bookingId\} \(updateBooking\)$/m,
    );

    expect(await failedTests({ document, app, mayReject: ['getInvoice'] })).toEqual({});
    const { handlers: seeded } = bookings({
      getInvoice: ({ path }) => ({ status: path.number === 'A-1' ? 204 : 404 }),
    });
    const withSeed = createApp({ document, handlers: seeded });
    const seed = async () => ({ number: 'A-1' });
    expect(await failedTests({ document, app: withSeed, seed })).toEqual({});
  });
});

test('contract tests do not use the ids of deleted resources again', async () => {
  const id = { type: 'integer', minimum: 1 };
  const json = (schema: object) => ({ content: { 'application/json': { schema } } });
  const idOf = (name: string) =>
    json({ type: 'object', required: [name], properties: { [name]: id } });
  const none = { '404': { description: 'No such room.' } };
  const paths = {
    '/rooms': {
      post: { operationId: 'addRoom', responses: { '201': { description: '', ...idOf('id') } } },
    },
    '/rooms/{id}': {
      delete: {
        operationId: 'deleteRoom',
        parameters: [{ name: 'id', in: 'path', required: true, schema: id }],
        responses: { '204': { description: '' }, ...none },
      },
    },
    '/bookings': {
      post: {
        operationId: 'book',
        requestBody: { required: true, ...idOf('roomId') },
        responses: { '204': { description: '' }, ...none },
      },
    },
  };
  const info = { title: 'Rooms', version: '1.0.0' };
  const text = JSON.stringify({ openapi: '3.1.0', info, security: [], paths });
  await withFiles({ 'rooms.json': text }, async (folder) => {
    const rooms = new Set<unknown>();
    const deleted = new Set<unknown>();
    const booked: unknown[] = [];
    const handlers: Record<string, AnyHandler> = {
      addRoom() {
        // No test tries this number by chance.
        const room = 1_234_567 + rooms.size + deleted.size;
        rooms.add(room);
        return { status: 201, body: { id: room } };
      },
      deleteRoom({ path }) {
        if (!rooms.delete(path.id)) return { status: 404 };
        deleted.add(path.id);
        return { status: 204 };
      },
      book({ body }) {
        const { roomId } = Object(body);
        if (deleted.has(roomId)) booked.push(roomId);
        return { status: rooms.has(roomId) ? 204 : 404 };
      },
    };
    const file = join(folder, 'rooms.json');
    const app = createApp({ document: file, handlers });
    expect(await failedTests({ document: file, app })).toEqual({});
    expect(deleted.size).toBeGreaterThan(0);
    expect(booked).toEqual([]);
  });
});
