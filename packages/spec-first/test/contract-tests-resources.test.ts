import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type AnyHandler, createApp, HttpError } from 'spec-first-server';
import { withFiles } from 'test-support/documents';
import { contractTests, testLog } from '../src/contract-tests/contract-tests.ts';
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
      /log: {6}getBooking responded with 200: \/body\/createdAt must match format "date-time"\n/,
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
      /reason: {3}(\d+) valid requests have failed \(\1 × 404\): add an example of a successful request to the document, add data in `seed`, or add getInvoice to `mayReject`\n/,
    );
    expect(summary).toMatch(
      /^Contract tests: 3 of 5 operations succeeded at least once\. CONTRACT_SEED=\d+\n/,
    );
    expect(summary).toMatch(
      /^ {2}POST \/bookings \(createBooking\): \d+ requests, (\d+) of \1 valid ones succeeded \(\1 × 201\)$/m,
    );
    expect(summary).toMatch(
      /^ {2}GET \/invoices\/\{number\} \(getInvoice\): \d+ requests, 0 of (\d+) valid ones succeeded \(\1 × 404\): add an example of a successful request to the document, add data in `seed`, or add getInvoice to `mayReject`$/m,
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

test('contract tests find a mistake that 409 hides, since a value of the request is taken', async () => {
  const pathsFor = (age: object) => ({
    '/members': {
      post: {
        operationId: 'addMember',
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                ...{ type: 'object', required: ['name', 'age'] },
                properties: { name: { type: 'string', minLength: 1 }, age },
              },
              example: { name: 'Ada', age: 36 },
            },
          },
        },
        responses: {
          '201': { description: '' },
          '400': { description: '' },
          '409': { description: 'The name is taken.' },
        },
      },
    },
  });
  const textFor = (age: object) =>
    JSON.stringify({ openapi: '3.1.0', info: {}, security: [], paths: pathsFor(age) });
  const integer = { type: 'integer' };
  const files = { 'a.json': textFor(integer), 'b.json': textFor({ ...integer, minimum: 0 }) };
  await withFiles(files, async (folder) => {
    const names = new Set(['Ada']);
    const addMember: AnyHandler = ({ body }) => {
      const { name } = Object(body);
      if (names.has(name)) return { status: 409 };
      names.add(name);
      return { status: 201 };
    };
    const app = createApp({ document: join(folder, 'a.json'), handlers: { addMember } });
    const failed = await failedTests({ document: join(folder, 'b.json'), app });
    expect(Object.values(failed)).toEqual([
      expect.stringContaining('where /body/age must be >= 0\n'),
    ]);
  });
});

describe('the advice of contract tests for requests that fail', () => {
  const json = (schema: object) => ({ content: { 'application/json': { schema } } });
  const room = json({ type: 'object', required: ['room'], properties: { room: true } });
  const none = { '404': { description: 'No such room.' } };

  /** Runs the tests of rooms whose ids have a schema. Returns the summary and the failures. */
  async function roomsWith(schema: object, addRoom: AnyHandler, hasRoom: (id: unknown) => boolean) {
    const paths = {
      '/rooms': {
        post: {
          ...{ operationId: 'addRoom', requestBody: { required: true, ...room } },
          responses: { '200': { description: '', ...room }, '503': { description: '' } },
        },
      },
      '/rooms/{room}': {
        parameters: [{ name: 'room', in: 'path', required: true, schema }],
        get: { operationId: 'getRoom', responses: { '200': { description: '' }, ...none } },
      },
    };
    const text = JSON.stringify({ openapi: '3.1.0', info: {}, security: [], paths });
    return withFiles({ 'rooms.json': text }, async (folder) => {
      const file = join(folder, 'rooms.json');
      const getRoom: AnyHandler = ({ path }) => ({ status: hasRoom(path.room) ? 200 : 404 });
      const app = createApp({ document: file, handlers: { addRoom, getRoom } });
      let summary = '';
      const report = (each: string) => {
        summary = each;
      };
      return { failed: await failedTests({ document: file, app, report }), summary };
    });
  }

  test('names the operation that creates the resources and never succeeds', async () => {
    const { failed } = await roomsWith(
      { type: 'string' },
      () => ({ status: 503 }),
      () => false,
    );
    expect(failed['GET /rooms/{room} (getRoom) follows the document']).toContain(
      '(14 × 404): its resources come from addRoom, which never succeeds\n',
    );
  });

  test('does not ask for other ids than those of an enum, all of which may exist', async () => {
    const rooms = ['red', 'green', 'blue'];
    const { failed, summary } = await roomsWith(
      { enum: rooms },
      () => ({ status: 200, body: { room: 'red' } }),
      (id) => id === 'red',
    );
    expect(failed).toEqual({});
    expect(summary).toMatch(/\(getRoom\): .*× 404\): no room was found that is not in use$/m);
    const all = await roomsWith(
      { enum: rooms },
      () => ({ status: 200, body: { room: 'red' } }),
      () => true,
    );
    expect(all.failed).toEqual({});
  });
});

test('contract tests show that another test has found the same failure again', async () => {
  const json = (schema: object) => ({ content: { 'application/json': { schema } } });
  const properties = { id: { type: 'integer' }, name: { type: 'string', maxLength: 9 } };
  const item = { type: 'object', required: ['id', 'name'], properties };
  const newItem = { type: 'object', required: ['name'], properties: { name: properties.name } };
  const body = { requestBody: { required: true, ...json(newItem) } };
  const replies = (status: number, schema: object = item) => ({
    responses: { [status]: { description: '', ...json(schema) }, '404': { description: '' } },
  });
  const paths = {
    '/items': {
      post: { operationId: 'addItem', ...body, ...replies(201) },
      get: { operationId: 'listItems', ...replies(200, { type: 'array', items: item }) },
    },
    '/items/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
      get: { operationId: 'getItem', ...replies(200) },
      put: { operationId: 'putItem', ...body, ...replies(200) },
    },
  };
  const text = JSON.stringify({ openapi: '3.1.0', info: {}, security: [], paths });
  await withFiles({ 'items.json': text }, async (folder) => {
    const items = new Map<unknown, object>();
    const store = (id: unknown, value: unknown) => {
      items.set(id, { id, ...Object(value) });
      return items.get(id);
    };
    const handlers: Record<string, AnyHandler> = {
      addItem: (call) => ({ status: 201, body: store(items.size + 1, call.body) }),
      listItems: () => ({
        status: 200,
        body: [...items.values()].map((each) => ({ ...each, name: 'wrong' })),
      }),
      getItem: ({ path: { id } }) =>
        items.has(id) ? { status: 200, body: items.get(id) } : { status: 404 },
      putItem: ({ path: { id }, body }) =>
        items.has(id) ? { status: 200, body: store(id, body) } : { status: 404 },
    };
    const document = join(folder, 'items.json');
    const notes: string[] = [];
    const failures: string[] = [];
    const tests: ((context?: unknown) => Promise<void>)[] = [];
    await contractTests({
      ...{ document, app: createApp({ document, handlers }), runs: 20 },
      report: (summary) => notes.push(summary),
      test: (_name, body) => tests.push(body),
    });
    for (const body of tests)
      await body({ diagnostic: (note: string) => notes.push(note) }).catch((error: unknown) =>
        failures.push(String(error)),
      );
    expect(failures).toEqual([expect.stringContaining('found by: POST /items (addItem)')]);
    const note = 'an earlier test has failed for GET /items (listItems): a change is stored';
    expect(notes).toEqual([
      note,
      expect.stringMatching(/PUT \/items\/\{id\} .*: an earlier test has failed for GET \/items /),
    ]);
  });
});

test('a correct service passes with lists of texts, defaults of alternatives, and no null', async () => {
  const text = `openapi: 3.1.0
info: { title: Boards, version: 1.0.0 }
paths:
  /boards:
    get:
      operationId: listBoards
      parameters: [{ name: size, in: query, explode: false, schema: { type: array, items: { enum: [s, m] } } }]
      responses: { '200': { description: All., content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/Board' } } } } } }
    post:
      operationId: addBoard
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/NewBoard' } } } }
      responses: { '201': { description: It., content: { application/json: { schema: { $ref: '#/components/schemas/Board' } } } } }
  /boards/{board}:
    parameters: [{ $ref: '#/components/parameters/board' }]
    get: { operationId: getBoard, responses: { '200': { description: It., content: { application/json: { schema: { $ref: '#/components/schemas/Board' } } } }, '404': { description: None. } } }
  /boards/{board}/labels:
    parameters: [{ $ref: '#/components/parameters/board' }]
    get: { operationId: listLabels, responses: { '200': { description: All., content: { application/json: { schema: { type: array, items: { type: string } } } } }, '404': { description: None. } } }
    delete: { operationId: clearLabels, responses: { '204': { description: Cleared. }, '404': { description: None. } } }
  /boards/{board}/labels/{label}:
    parameters: [{ $ref: '#/components/parameters/board' }, { name: label, in: path, required: true, schema: { type: string, pattern: '^[a-z]+$' } }]
    put: { operationId: addLabel, responses: { '204': { description: Added. }, '404': { description: None. } } }
    delete: { operationId: removeLabel, responses: { '204': { description: Removed. }, '404': { description: None. } } }
components:
  parameters: { board: { name: board, in: path, required: true, schema: { type: string } } }
  schemas:
    Board:
      type: object
      required: [size, target]
      properties:
        id: { type: string, readOnly: true }
        size: { enum: [s, m] }
        note: { type: string }
        hint: { type: [string, 'null'] }
        target:
          oneOf:
            - { type: object, required: [url], additionalProperties: false, properties: { url: { type: string }, method: { type: string, default: POST } } }
            - { type: object, required: [to], additionalProperties: false, properties: { to: { type: string } } }
    NewBoard:
      type: object
      required: [size, target]
      properties:
        size: { enum: [s, m] }
        note: { type: [string, 'null'] }
        hint: { type: [string, 'null'] }
        target: { $ref: '#/components/schemas/Board/properties/target' }
`;
  const boards = new Map<unknown, { readonly board: object; readonly labels: Set<unknown> }>();
  const labelsOf = (path: Readonly<Record<string, unknown>>) => {
    const found = boards.get(path.board);
    if (found === undefined) throw new HttpError(404, 'no such board');
    return found;
  };
  const handlers: Record<string, AnyHandler> = {
    listBoards: ({ query }) => {
      const all = [...boards.values()].map(({ board }) => board);
      const sizes = Object(query).size ?? ['s', 'm'];
      return { status: 200, body: all.filter((board) => sizes.includes(Object(board).size)) };
    },
    addBoard({ body }) {
      const id = `b${boards.size + 1}`;
      const { note, ...members } = Object(body);
      const board = { ...members, ...(note !== null && { note }), id };
      boards.set(id, { board, labels: new Set() });
      return { status: 201, body: board };
    },
    getBoard: ({ path }) => ({ status: 200, body: labelsOf(path).board }),
    listLabels: ({ path }) => ({ status: 200, body: [...labelsOf(path).labels] }),
    clearLabels({ path }) {
      labelsOf(path).labels.clear();
      return { status: 204 };
    },
    addLabel({ path }) {
      labelsOf(path).labels.add(path.label);
      return { status: 204 };
    },
    removeLabel({ path }) {
      if (!labelsOf(path).labels.delete(path.label)) throw new HttpError(404, 'no such label');
      return { status: 204 };
    },
  };
  await withFiles({ 'openapi.yaml': text }, async (folder) => {
    const file = join(folder, 'openapi.yaml');
    const app = createApp({ document: file, handlers });
    expect(await failedTests({ document: file, app })).toEqual({});
  });
});
