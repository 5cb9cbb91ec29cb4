import { expect, test } from '@jest/globals';
import { createSchemas } from 'openapi-document';
import {
  collectionPathOf,
  idNameOfParameter,
  idNameOfPath,
  idNamesOfSchema,
  idNameTestFor,
  isIdName,
  normalizedName,
  resourcePathOf,
} from '../../src/contract-tests/resource-names.ts';
import { documentOf } from './test-data.ts';

test.each([
  ['orderId', true],
  ['order_id', true],
  ['order-id', true],
  ['orderID', true],
  ['Größe-ID', true],
  ['order2Id', true],
  ['ORDER_ID', true],
  ['id', true],
  ['ID', true],
  ['_id', true],
  ['paid', false],
  ['valid', false],
  ['grid', false],
  ['isPaid', false],
  ['PAID', false],
  ['video', false],
])('%s is the name of an id: %p', (name, expected) => {
  expect(isIdName(name)).toBe(expected);
});

test.each([
  ['orderId', true],
  ['order_id', true],
  ['id', false],
  ['ID', false],
  ['_id', false],
  ['petid', true],
  ['PETID', true],
  ['paid', false],
  ['name', false],
])(
  '%s contains the name of a resource, with the path /pets/{petid}/{name}/{id}: %p',
  async (name, expected) => {
    const { operations } = await documentOf({
      paths: { '/pets/{petid}/{name}/{id}': { get: { operationId: 'get', responses: {} } } },
    });
    expect(idNameTestFor(operations)(name)).toBe(expected);
  },
);

test.each([
  ['orderId', 'orderid'],
  ['line_item_id', 'lineitemid'],
  ['Größe-ID', 'größeid'],
])('the name %s is normalized to %s', (name, normalized) => {
  expect(normalizedName(name)).toBe(normalized);
});

test.each([
  ['/customers/{id}/orders', 'orderid'],
  ['/customers/{id}/orders/{orderId}', 'orderid'],
  ['/line-items', 'lineitemid'],
  ['/categories', 'categoryid'],
  ['/houses', 'houseid'],
  ['/pie-slices', 'piesliceid'],
  ['/rooms/{id}:start', 'roomid'],
  ['/{tenant}', 'id'],
])('the ids of %s are named %s', (path, name) => {
  expect(idNameOfPath(path)).toBe(name);
});

test.each([
  ['/rooms/{roomId}', 'roomId', 'roomid'],
  ['/rooms/{room_id}', 'room_id', 'roomid'],
  ['/invoices/{number}', 'number', 'number'],
  ['/rooms/{id}', 'id', 'roomid'],
  ['/rooms/{_id}/close', '_id', 'roomid'],
  ['/rooms/{id}/beds/{bedId}', 'id', 'roomid'],
  ['/rooms/{roomId}/beds/{ID}', 'ID', 'bedid'],
  ['/{id}/beds', 'id', 'id'],
])('the ids in %s at {%s} are named %s', (path, parameterName, name) => {
  expect(idNameOfParameter(path, parameterName)).toBe(name);
});

test.each([
  [{ $ref: '#/components/schemas/Line_Item' }, ['lineitemid']],
  [{ $ref: '#/components/schemas/Item/properties/id' }, []],
  [{ $ref: '#/components/parameters/Item' }, []],
  [{ type: 'object' }, []],
  [true, []],
])('a body with the schema %p has the ids %p', (schema, names) => {
  const schemas = { Line_Item: { type: 'object' } };
  const outline = createSchemas({ components: { schemas } }).outline(schema);
  expect(idNamesOfSchema({ outline })).toEqual(names);
});

test.each([
  ['/rooms/{roomId}', '/rooms/{roomId}', '/rooms'],
  ['/rooms/{roomId}/close', '/rooms/{roomId}', '/rooms'],
  ['/a/{b}/c/{d}/e', '/a/{b}/c/{d}', '/a/{b}/c'],
  ['/rooms', '', ''],
])('%s belongs to the resource "%s" in the collection "%s"', (path, resource, collection) => {
  expect([resourcePathOf(path), collectionPathOf(resource)]).toEqual([resource, collection]);
});
