import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type Options, serve, withFiles } from 'test-support/documents';
import type { AnyRequest } from '../src/core/handlers/types.ts';
import { temporalFormats } from '../src/index.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: Trips, version: 1.0.0 }
paths:
  /trips:
    post:
      operationId: echo
      parameters:
        - { name: day, in: query, schema: { type: string, format: date, default: 2027-01-31 } }
        - { name: at, in: query, schema: { type: string, format: date-time } }
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: '#/components/schemas/Trip' } } }
      responses:
        '200':
          description: the same
          headers: { X-Day: { schema: { type: string, format: date } } }
          content: { application/json: { schema: { $ref: '#/components/schemas/Trip' } } }
components:
  schemas:
    Trip:
      type: object
      properties:
        start: { type: string, format: date-time }
        end: { anyOf: [{ type: string, format: time }, { type: 'null' }] }
        takes: { type: [string, 'null'], format: duration }
        days: { type: array, uniqueItems: true, items: { type: string, format: date } }
        kind: { type: string, format: date, enum: [2027-01-31] }
        account: { type: string, format: account }
        price: { type: string, format: price }
`;

/** A value without `toJSON`. */
class Price {
  readonly cents: number;
  constructor(cents: number) {
    this.cents = cents;
  }
}

const formats: Options['formats'] = {
  ...temporalFormats,
  account: (text) => /^[A-Z]+$/.test(text),
  price: {
    type: 'Price',
    parse(text) {
      if (!/^\d+$/.test(text)) throw new Error('no price');
      return new Price(Number(text));
    },
    stringify: ({ cents }: Price) => String(cents),
  },
};

/** Serves a handler that records its request, and replies with what `change` returns. */
const served = async (change = (body: object) => body, others: Options['formats'] = {}) => {
  const requests: AnyRequest[] = [];
  const echo = (request: AnyRequest) => {
    requests.push(request);
    const headers = { 'X-Day': request.query.day };
    return { status: 200, headers, body: change(Object(request.body)) };
  };
  const { client } = await withFiles({ 'openapi.yaml': DOCUMENT }, (folder) =>
    serve(join(folder, 'openapi.yaml'), { echo }, { formats: { ...formats, ...others } }),
  );
  return { requests, post: (body: object, query = '') => client.post(`/trips${query}`).send(body) };
};

const TRIP = {
  start: '2026-11-29T16:00:00Z',
  end: '18:30:00Z',
  takes: 'PT2H30M',
  days: ['2026-11-29', '2026-11-30'],
  kind: '2027-01-31',
  account: 'ANN',
  price: '250',
};

test('handlers get and return values of the types of formats, and clients texts', async () => {
  const { requests, post } = await served();
  const response = await post(TRIP).expect(200);
  expect(response.body).toEqual(TRIP);
  expect(response.headers['x-day']).toBe('2027-01-31');
  const [request] = requests;
  const { start, end, takes, days, price, ...texts } = Object(request?.body);
  expect(
    [request?.query.day, start, end, takes, ...days].map((value) => value.constructor.name),
  ).toEqual([...['PlainDate', 'Instant', 'PlainTime', 'Duration', 'PlainDate', 'PlainDate']]);
  expect(price).toEqual(new Price(250));
  expect(texts).toEqual({ kind: '2027-01-31', account: 'ANN' });
});

test('null stays null, and replies may have texts', async () => {
  const { post } = await served(() => TRIP);
  expect((await post({ end: null, takes: null })).body).toEqual(TRIP);
  const echoing = await served();
  const nulls = { end: null, takes: null };
  expect((await echoing.post(nulls)).body).toEqual(nulls);
});

test.each([
  [{ start: 'soon' }, '', '/body/start must match format "date-time"'],
  [{ price: 'much' }, '', '/body/price must match format "price"'],
  [{ days: ['2026-11-29', '2026-11-29'] }, '', '/body/days must NOT have duplicate items'],
  [{}, '?day=2026-02-30', '/query/day must match format "date"'],
  [
    {},
    '?at=2026-12-01T08:00:00+00:00',
    '/query/at must match format "date-time" (a + in a query is a space: send %2B)',
  ],
  [
    { start: `2026-11-29T16:00:00.${'1'.repeat(12)}Z` },
    '',
    '/body/start must be a value of Temporal.Instant',
  ],
])('a request with %j%s is rejected', async (body, query, message) => {
  const { post } = await served();
  expect((await post(body, query).expect(400)).body.message).toContain(message);
});

test('a reply with a value of another type is an error of the service', async () => {
  const { post } = await served(() => ({ price: { cents: 5n } }));
  expect((await post({})).body).toEqual({ price: '5' });
  const wrong = await served(() => ({ days: [{}] }));
  await wrong.post({}).expect(500);
});

test('a request whose text is parsed as an invalid Date is rejected', async () => {
  const toDate = {
    type: 'Date',
    parse: (text: string) => new Date(text),
    stringify: (date: Date) => date.toISOString(),
  };
  const { post } = await served(undefined, { 'date-time': toDate });
  const start = '2016-12-31T23:59:60Z';
  expect((await post({ start }).expect(400)).body.message).toBe(
    '/body/start must be a value of Date',
  );
  expect((await post({ start: '2016-12-31T23:59:59Z' })).body).toEqual({
    start: '2016-12-31T23:59:59.000Z',
  });
});
