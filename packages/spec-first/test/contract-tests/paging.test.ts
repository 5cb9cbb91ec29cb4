import { describe, expect, test } from '@jest/globals';
import { createSchemas } from 'openapi-document';
import {
  checkLimit,
  checkPages,
  isCursor,
  nextCursor,
  pagingOf,
} from '../../src/contract-tests/paging.ts';
import type { RequestPart, RequestValues } from '../../src/contract-tests/request-parts.ts';
import { responseOf } from './test-data.ts';

const text = { type: 'string' };
const query = (name: string, schema: object = text): RequestPart => ({
  ...{ name, in: 'query', required: false, outline: createSchemas({}).outline(schema) },
  ...{ examples: [], samples: [], violation: () => '' },
});
const LIMIT = query('limit', { type: 'integer', minimum: 2, maximum: 50 });

function pagingNames(method: string, parameters: readonly RequestPart[]) {
  const paging = pagingOf(method, parameters);
  return paging && [paging.limit.name, paging.cursor.name];
}

describe('an operation', () => {
  test.each([
    'limit',
    'pageSize',
    'page_size',
    'perPage',
    'per_page',
    'size',
    'maxResults',
    'first',
  ])('has pages with the parameter %s', (name) => {
    expect(pagingNames('get', [query('after'), query(name)])).toEqual([name, 'after']);
  });

  test.each([
    'cursor',
    'after',
    'pageToken',
    'page_token',
    'continuation',
    'continuationToken',
    'starting_after',
  ])('has pages with the cursor %s', (name) => {
    expect(pagingNames('get', [query('limit'), query(name)])).toEqual(['limit', name]);
  });

  test.each([
    ['another method', 'post', [query('limit'), query('cursor')]],
    ['no cursor', 'get', [query('limit')]],
    ['no limit', 'get', [query('cursor'), query('limits'), query('rate_limit')]],
    ['other names', 'get', [query('limit'), query('cursors'), query('is_cursor')]],
    ['headers', 'get', [{ ...query('limit'), in: 'header' as const }, query('cursor')]],
  ])('has no pages with %s', (_name, method, parameters) => {
    expect(pagingNames(method, parameters)).toBeUndefined();
  });
});

test.each([
  ['query', text, true],
  ['header', text, false],
  ['query', { ...text, format: 'date-time' }, false],
  ['query', { ...text, format: 'date' }, false],
  ['query', { ...text, format: 'uuid' }, true],
] as const)(
  'the parameter after in %s with the schema %p is a cursor: %p',
  (where, schema, expected) => {
    expect(isCursor({ ...query('after', schema), in: where })).toBe(expected);
  },
);

test.each([
  [{ items: [], next: 'a' }, 'a'],
  [{ nextCursor: 7 }, 7],
  [{ next_page_token: 'a' }, 'a'],
  [{ nextToken: 'a' }, 'a'],
  [{ continuationToken: 'a' }, 'a'],
  [{ endCursor: 'a' }, 'a'],
  [{ next: 'https://host.example/a?limit=1&cursor=b%20c' }, 'b c'],
  [{ next: '/a?page_token=b&limit=1' }, 'b'],
  [{ next: 'https://host.example/a?page=2' }, 'https://host.example/a?page=2'],
  [{ next: '/b+c?=' }, '/b+c?='],
])('the next cursor of %j is %j', (body, cursor) => {
  expect(nextCursor(body)).toBe(cursor);
});

test.each([[{ next: null }], [{ nextDay: 'a', is_next: 'b' }], [['next']], [undefined]])(
  '%j has no next cursor',
  (body) => {
    expect(nextCursor(body)).toBeUndefined();
  },
);

type Query = ReadonlyMap<string, unknown>;

const queryOf = (values: RequestValues): Query =>
  new Map([...values].map(([part, value]) => [part.name, value]));

function service(items: readonly unknown[], parameters: readonly RequestPart[]) {
  const paging = pagingOf('get', parameters);
  if (paging === undefined) throw new Error('the operation has no pages');
  const queries: Query[] = [];
  const respond = (body: unknown, status = 200) => ({
    ...{ url: 'http://rooms/', status, headers: {}, isCut: false },
    body: Buffer.from(JSON.stringify(body)),
  });
  /** @param next returns the next cursor after an index. */
  const check = (
    next = (end: number): unknown => (end < items.length ? end : null),
    change = (page: readonly unknown[], _sent: Query): unknown => page,
  ) =>
    checkPages(paging, async (values) => {
      const query = queryOf(values);
      queries.push(query);
      const start = Number(query.get('cursor') ?? 0);
      const end = start + Number(query.get('limit'));
      const page = change(items.slice(start, end), query);
      return respond(Array.isArray(page) ? { items: page, next: next(end) } : page);
    });
  return { paging, check, queries, respond };
}

const list = (count: number) => Array.from({ length: count }, (_, id) => ({ id, name: 'a' }));
const PARAMETERS = [LIMIT, query('cursor')];

describe('the check of pages', () => {
  test.each([0, 1, 2, 3, 5, 50, 60])('passes for a list of %i items', async (count) => {
    const { check } = service(list(count), PARAMETERS);
    await check();
  });

  test('reads one large page and at most ten small ones', async () => {
    const { check, queries } = service(list(60), PARAMETERS);
    await check();
    const cursors = [undefined, 2, 4, 6, 8, 10, 12, 14, 16, 18];
    expect(queries.map((sent) => [sent.get('limit'), sent.get('cursor')])).toEqual([
      [50, undefined],
      ...cursors.map((cursor) => [2, cursor]),
    ]);
    expect(queries[1]?.has('cursor')).toBe(false);
  });

  test('reads pages of 1 and 100 items without bounds, and no page after the last item', async () => {
    const { check, queries } = service(list(2), [query('limit'), query('cursor')]);
    await check((end) => end);
    expect(queries.map((sent) => sent.get('limit'))).toEqual([100, 1, 1]);
  });

  test('reads pages of one item if the limit may be 0', async () => {
    const limit = query('limit', { type: 'integer', minimum: 0, maximum: 9 });
    const { check, queries } = service(list(2), [limit, query('cursor')]);
    await check();
    expect(queries.map((sent) => sent.get('limit'))).toEqual([9, 1, 1]);
  });

  const reversed = (page: readonly unknown[], sent: Query) =>
    sent.get('limit') === 50 ? page : page.toReversed();
  const withoutLast = (page: readonly unknown[], sent: Query) =>
    sent.has('cursor') ? page.slice(0, -1) : page;
  const first = (page: readonly unknown[], sent: Query) => (sent.has('cursor') ? list(2) : page);

  test.each([
    [
      'ends the list too early',
      () => null,
      undefined,
      'the 2 items in pages of 2 differ from the 5 items',
    ],
    [
      'returns another order',
      undefined,
      reversed,
      'the 5 items in pages of 2 differ from the 5 items',
    ],
    ['loses items', undefined, withoutLast, 'the 3 items in pages of 2 differ from the 5 items'],
    ['ignores the cursor', undefined, first, 'the 6 items in pages of 2 differ from the 5 items'],
  ])('fails if the service %s', async (_name, next, change, message) => {
    const { check } = service(list(5), PARAMETERS);
    await expect(check(next, change)).rejects.toMatchObject({
      check: 'pages contain all items of the list',
      message: `${message} in one large page`,
    });
  });

  test('fails if items without ids differ', async () => {
    const { check } = service(['a', 'b', 'c'], PARAMETERS);
    await check();
    const other = (page: readonly unknown[], sent: Query) => (sent.has('cursor') ? ['d'] : page);
    await expect(check(undefined, other)).rejects.toThrow('the 3 items in pages of 2 differ');
  });

  test('compares only the ids of items, since their members may change between two requests', async () => {
    const { check } = service(list(3), PARAMETERS);
    await check(undefined, (page) => page.map((item) => ({ ...Object(item), at: Math.random() })));
  });

  test.each([
    ['the large page', 50, { total: 5 }],
    ['the large page', 50, null],
    ['a small page', 2, { total: 5 }],
  ])('passes if %s of %i items is not a list: %j', async (_name, limit, body) => {
    const { check, queries, paging, respond } = service(list(5), PARAMETERS);
    await check(undefined, (page, sent) => (sent.get('limit') === limit ? body : page));
    expect(queries).toHaveLength(limit === 50 ? 1 : 2);
    await checkPages(paging, async (sent) =>
      queryOf(sent).get('limit') === limit
        ? respond({ items: [] }, 300)
        : respond({ items: list(5) }),
    );
  });
});

describe('the check of a limit', () => {
  const check = (name: string, value: unknown, body: unknown, method = 'get') =>
    checkLimit(method, new Map([[query(name), value]]), responseOf(200, {}, body));

  test.each([
    ['a list', 'limit', 1, [1, 2], 'the response has 2 items for limit=1'],
    ['beside a total', 'per_page', 2, { items: [1, 2, 3], total: 3 }, '3 items for per_page=2'],
    ['beside a cursor', 'limit', 1, { items: [1, 2], next: null }, '2 items for limit=1'],
    ['a bigint as limit', 'pageSize', 1n, [1, 2], '2 items for pageSize=1'],
  ])('fails if there are more items: %s', (_case, name, value, body, message) => {
    expect(() => check(name, value, body)).toThrow(
      expect.objectContaining({
        check: 'a list has at most as many items as its limit',
        message: expect.stringContaining(message),
      }),
    );
  });

  test.each([
    ['as many items', 2, [1, 2]],
    ['fewer items', 3, { items: [1, 2] }],
    ['several lists', 1, { items: [1, 2], facets: [1] }],
    ['no list', 1, { total: 2 }],
    ['a list that may not be a page', 1, { series: [1, 2], name: 'a' }],
    ['a body that is not JSON', 1, '['],
    ['a limit of 0, which may mean no limit', 0, [1, 2]],
    ['a negative limit', -1, [1, 2]],
    ['a limit that is not an integer', '1', [1, 2]],
    ['a fraction', 1.5, [1, 2]],
    ['no limit', undefined, [1, 2]],
  ])('passes: %s', (_case, value, body) => {
    expect(() => check('limit', value, body)).not.toThrow();
  });

  test('passes for other methods, and for a size, which may be a property of the items', () => {
    expect(() => check('limit', 1, [1, 2], 'post')).not.toThrow();
    expect(() => check('size', 1, [1, 2])).not.toThrow();
  });
});
