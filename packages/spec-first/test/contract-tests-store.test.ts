import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type AnyHandler, createApp, HttpError } from 'spec-first-server';
import { withFiles } from 'test-support/documents';
import { failedTests } from './contract-tests/failed-tests.ts';
import { STORE_FAULTS, type StoreFault, storeHandlers } from './contract-tests/store.ts';

const document = join(import.meta.dirname, 'contract-tests/store.yaml');
const failuresOf = (faults: readonly StoreFault[]) => {
  const app = createApp({ document, handlers: storeHandlers(...faults) });
  return failedTests({ document, app }, ...faults.map((fault) => EXPECTED[fault][0]));
};

/** For each fault: a part of the name of the test that finds it, and the message of that test. */
const EXPECTED: Record<StoreFault, readonly [name: string, message: RegExp]> = {
  'missing 404': ['deleteOrder', /the status 500 is a failure of the service/],
  'missing header': ['createOrder', /the status 500 is a failure of the service/],
  'crash on one enum value': ['createOrder', /the status 500 .*.*"channel":"phone"/s],
  'crash on two items': ['createOrder', /the status 500 is a failure of the service/],
  'wrong date format': ['createOrder', /the status 500 is a failure of the service/],
  'PATCH keeps nothing': ['changeOrder', /\/note was sent as .*, and is .* in the response/],
  'DELETE deletes nothing': ['deleteOrder', /GET \/orders\/[\w-]+ shows it after the deletion/],
  'voucher crash': ['payOrder', /the status 500 .*.*"kind":"Voucher"/s],
  'rounded int64': ['createOrder', /\/number was sent as \S+, and is \S+ in the response/],
  'lost second page': [
    'listOrders',
    /the list in pages of \d+ lacks the item \S+, unlike the other lists/,
  ],
  'created but not stored': [
    'createOrder',
    /GET \/orders\/[\w-]+ has the status 404 after the request/,
  ],
  'note not stored': ['createOrder', /\/note was sent as .*, and is missing/],
};

test('contract tests call each operation of a store successfully', async () => {
  expect(await failuresOf([])).toEqual({});
});

/** Faults of one store. A test shows one fault for each operation and check. */
const STORES: readonly (readonly StoreFault[])[] = [
  ['missing header'],
  ['wrong date format'],
  ['created but not stored'],
  ['crash on two items', 'rounded int64', 'missing 404'],
  [
    'note not stored',
    'crash on one enum value',
    'lost second page',
    'PATCH keeps nothing',
    'DELETE deletes nothing',
    'voucher crash',
  ],
];

test.each(STORES)('contract tests find the faults of a store: %s', async (...faults) => {
  const failed = Object.entries(await failuresOf(faults));
  for (const fault of faults) {
    const [name, message] = EXPECTED[fault];
    const [, text] = failed.find(([title]) => title.includes(name)) ?? [];
    expect(text).toMatch(message);
  }
});

test('each fault is in one store', () => {
  expect(STORES.flat().sort()).toEqual([...STORE_FAULTS].sort());
});

/** Parcels with a unique code that has a pattern, and a unique name that has none. */
const PARCELS = `
openapi: 3.1.0
info: { title: Parcels, version: 1.0.0 }
paths:
  /parcels:
    post:
      operationId: addParcel
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: '#/components/schemas/Parcel' } } }
      responses:
        '200':
          description: The stored parcel
          content: { application/json: { schema: { $ref: '#/components/schemas/Parcel' } } }
        '409': { description: The code or the name is taken }
components:
  schemas:
    Parcel:
      type: object
      required: [code, name]
      properties:
        code: { type: string, pattern: '^PO-[0-9]{6}$', example: PO-123456 }
        name: { type: string, minLength: 1, maxLength: 40, example: My parcel }
        remark: { type: string, maxLength: 200 }
`;

test('contract tests find a fault of a store with unique strings', async () => {
  const taken = new Set<unknown>();
  let requests = 0;
  const addParcel: AnyHandler = ({ body }) => {
    const { code, name, remark, ...others } = body as Record<string, unknown>;
    requests += 1;
    if (taken.has(code) || taken.has(name)) throw new HttpError(409, 'the code or name is taken');
    taken.add(code).add(name);
    const kept = remark === undefined ? {} : { remark: String(remark).slice(0, 199) };
    return { status: 200, body: { code, name, ...kept, ...others } };
  };
  await withFiles({ 'openapi.yaml': PARCELS }, async (folder) => {
    const options = { document: join(folder, 'openapi.yaml'), runs: 20 };
    const app = createApp({ document: options.document, handlers: { addParcel } });
    const [message = ''] = Object.values(await failedTests({ ...options, app }));
    expect(message).toMatch(
      /\/remark was sent as .{100}… \(202 characters\), and is .{100}… \(201 characters\) in the/,
    );
    expect(taken.size / 2).toBeGreaterThan(requests / 3);
  });
});
