import { expect, test } from '@jest/globals';
import { Schemas } from 'openapi-document';
import { pageOf, pagingOf } from '../../src/contract-tests/paging.ts';
import { documentOf, json, operationIn, responseOf } from './test-data.ts';

const outline = new Schemas({}).outline({ type: 'integer' });

test.each([
  ['$top', '$skip'],
  ['page[size]', 'page[number]'],
  ['limit', 'offset'],
])('%s and %s select a page', (size, position) => {
  const parameters = [size, position].map((name) => ({ in: 'query', name, outline }));
  const { limit, offset, page } = pagingOf(parameters);
  expect([limit?.name, (offset ?? page)?.name]).toEqual([size, position]);
});

test.each<[style: string, body: object, headers: Record<string, string>]>([
  ['OData', { '@count': 3, value: [{ id: 1 }] }, {}],
  ['HAL', { total: 3, _embedded: { orders: [{ id: 1 }] }, _links: { self: { href: '/' } } }, {}],
  ['JSON:API', { data: [{ id: 1 }], meta: { total: 3 } }, {}],
  ['headers', [{ id: 1 }], { 'x-total': '3' }],
])('a page of %s has its items and the total', async (_style, body, headers) => {
  const responses = { '200': { description: '', ...json({}) } };
  const paths = { '/orders': { get: { operationId: 'listOrders', responses } } };
  const operation = operationIn(await documentOf({ paths }), 'listOrders');
  const type = { 'content-type': 'application/json' };
  const page = pageOf({ operation }, responseOf(200, { ...type, ...headers }, body));
  expect(page).toMatchObject({ items: [{ id: 1 }], total: 3 });
});
