import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { creatorOf, isEnding, orderOperations } from '../../src/contract-tests/operation-order.ts';
import { documentOf, json, operationIn } from './test-data.ts';

const operation = (operationId: string, members: object = {}) => ({
  operationId,
  responses: { '204': { description: 'Done.' } },
  ...members,
});
const idsInOrder = async (paths: object, schemas: object = {}) => {
  const { operations } = await documentOf({ paths, components: { schemas } });
  return orderOperations(operations).map(({ id }) => id);
};
const idIn = (where: string, name: string) => ({
  parameters: [{ name, in: where, required: true, schema: { type: 'string' } }],
});
const bodyWith = (schema: object) => ({ requestBody: json(schema) });
const responseWith = (schema: object) => ({
  responses: { '200': { description: '', ...json(schema) } },
});
const text = { type: 'string' };

describe('operations are ordered', () => {
  test('by ids: first those that create resources, last those that end them', async () => {
    const { operations } = await loadDocument(join(import.meta.dirname, 'store.yaml'));
    expect(orderOperations(operations).map(({ id }) => id)).toEqual([
      'createOrder',
      'listOrders',
      'getOrder',
      'payOrder',
      'notify',
      'changeOrder',
      'cancelOrder',
      'deleteOrder',
    ]);
  });

  test('POST, PUT, then the shortest paths', async () => {
    const paths = {
      '/a/b/c': { get: operation('deep') },
      '/a': { get: operation('list'), patch: operation('patch') },
      '/b': { put: operation('put') },
      '/c': { post: operation('post') },
    };
    expect(await idsInOrder(paths)).toEqual(['post', 'put', 'list', 'patch', 'deep']);
  });

  test('by the ids in paths, queries, headers and bodies', async () => {
    const order = { type: 'object', properties: { a: { properties: { roomId: text } } } };
    const paths = {
      '/a': { post: operation('bodyList', bodyWith({ type: 'array', items: order })) },
      '/b': { post: operation('query', idIn('query', 'room_id')) },
      '/c': { post: operation('header', idIn('header', 'Room-Id')) },
      '/d/{roomId}': { post: operation('path', idIn('path', 'roomId')) },
      '/e': { post: operation('none', idIn('query', 'limit')) },
      '/rooms': { get: operation('list') },
    };
    expect(await idsInOrder(paths)).toEqual([
      'none',
      'list',
      'bodyList',
      'query',
      'header',
      'path',
    ]);
  });

  test.each([
    [4, 'member', ['create', 'use']],
    [5, 'member', ['use', 'create']],
    [4, 'item', ['create', 'use']],
    [5, 'item', ['use', 'create']],
  ])('by the ids in a body at level %i of each %s', async (levels, kind, expected) => {
    let schema: object = { properties: { roomId: text } };
    for (let level = 0; level < levels; level += 1)
      schema = kind === 'item' ? { items: schema } : { properties: { member: schema } };
    const paths = {
      '/a': { post: operation('use', bodyWith(schema)) },
      '/rooms': { post: operation('create') },
    };
    expect(await idsInOrder(paths)).toEqual(expected);
  });

  test.each([
    ['a collection', '/rooms', responseWith(text)],
    ['the path of an item', '/spaces', responseWith(text)],
    ['the schema of a response', '/lodgings', responseWith({ $ref: '#/components/schemas/Room' })],
  ])('by the ids whose name comes from %s', async (_name, path, members) => {
    const paths = {
      '/use': { post: operation('use', bodyWith({ properties: { roomId: text } })) },
      [path]: { put: operation('create', members) },
      '/spaces/{roomId}/beds': { patch: operation('change', idIn('path', 'roomId')) },
    };
    const ids = await idsInOrder(paths, { Room: { type: 'object' } });
    expect(ids.slice(0, 2)).toEqual(['create', 'use']);
  });

  test.each(['query', 'body'])(
    'by an id in the %s whose name has no capital letter, if a path has a parameter of this name',
    async (where) => {
      const members =
        where === 'query'
          ? idIn('query', 'petid')
          : bodyWith({ properties: { petid: text, paid: { type: 'boolean' } } });
      const paths = {
        '/orders': { post: operation('order', members) },
        '/pets': { put: operation('create') },
        '/pets/{petid}': { get: operation('get', idIn('path', 'petid')) },
      };
      expect(await idsInOrder(paths)).toEqual(['create', 'order', 'get']);
    },
  );

  test('by any name of a path parameter', async () => {
    const paths = {
      '/invoices/{number}/pay': { post: operation('pay', idIn('path', 'number')) },
      '/invoices': { get: operation('list') },
    };
    expect(await idsInOrder(paths)).toEqual(['list', 'pay']);
  });

  test('not by other names', async () => {
    const paths = {
      '/words/{name}': { get: operation('get', idIn('path', 'name')) },
      '/words': { get: operation('list') },
      '/a': { post: operation('query', idIn('query', 'name')) },
      '/b': { post: operation('body', bodyWith({ properties: { name: text } })) },
      '/rooms/{id}': { get: operation('getRoom', idIn('path', 'id')) },
      '/c': { post: operation('afterRoom', idIn('query', 'roomId')) },
    };
    const ids = await idsInOrder(paths);
    expect(ids).toEqual(['query', 'body', 'afterRoom', 'list', 'get', 'getRoom']);
  });

  test('by method, if they need the ids of each other', async () => {
    const paths = {
      '/cats': { get: operation('listCats', idIn('query', 'dogId')) },
      '/dogs': { put: operation('putDogs', idIn('query', 'catId')) },
    };
    expect(await idsInOrder(paths)).toEqual(['putDogs', 'listCats']);
  });

  test('with deletions of parts before deletions of the resources that contain them', async () => {
    const remove = (id: string) => ({ delete: operation(id) });
    const paths = {
      '/houses/{houseId}': remove('house'),
      '/houses/{houseId}/rooms/{roomId}': remove('room'),
      '/houses/{houseId}/rooms/{roomId}/beds/{bedId}': remove('bed'),
      '/houses/{houseId}/rooms': remove('rooms'),
    };
    expect(await idsInOrder(paths)).toEqual(['bed', 'room', 'rooms', 'house']);
  });

  test('even if there are 1,000', async () => {
    const paths = Array.from({ length: 250 }, (_, index) => {
      const name = index === 0 ? 'name' : `a${index - 1}Id`;
      const body = bodyWith({ properties: { [name]: text } });
      const item = { ...idIn('path', `a${index}Id`), get: operation(`get${index}`) };
      return [
        [`/a${index}s`, { get: operation(`list${index}`), post: operation(`add${index}`, body) }],
        [`/a${index}s/{a${index}Id}`, { ...item, patch: operation(`change${index}`, body) }],
      ];
    });
    const { operations } = await documentOf({ paths: Object.fromEntries(paths.flat()) });
    const ordered = orderOperations(operations).map(({ id }) => id);
    expect(ordered).toHaveLength(1_000);
    expect(ordered.slice(0, 2)).toEqual(['add0', 'list0']);
  });

  test('with recursive schemas', async () => {
    const schemas = { Node: { properties: { next: { $ref: '#/components/schemas/Node' } } } };
    const paths = {
      '/nodes': { post: operation('add', bodyWith({ $ref: '#/components/schemas/Node' })) },
    };
    expect(await idsInOrder(paths, schemas)).toEqual(['add']);
  });
});

test.each([
  ['delete', '/rooms/{id}', 'x', true],
  ['post', '/rooms/{id}/close', 'x', true],
  ['post', '/rooms/{id}/Cancel', 'x', true],
  ['put', '/rooms', 'archiveRooms', true],
  ['patch', '/rooms', 'refundRooms', true],
  ['post', '/rooms/{id}/withdraw', 'x', true],
  ['get', '/rooms/{id}/close', 'x', false],
  ['post', '/rooms/{id}/open', 'x', false],
  ['post', '/close/{id}', 'x', false],
  ['post', '/rooms', 'unarchiveRooms', false],
  ['get', '/rooms', 'deleteRooms', false],
])('%s %s (%s) ends a resource: %p', async (method, path, id, expected) => {
  const document = await documentOf({ paths: { [path]: { [method]: operation(id) } } });
  expect(isEnding(operationIn(document, id))).toBe(expected);
});

test('a resource is created by POST to its collection', async () => {
  const document = await documentOf({
    paths: {
      '/rooms': { get: operation('list'), post: operation('create') },
      '/rooms/{id}': { delete: operation('delete', idIn('path', 'id')) },
      '/rooms/{id}/close': { post: operation('close', idIn('path', 'id')) },
      '/rooms/{id}/beds': { delete: operation('deleteBeds', idIn('path', 'id')) },
      '/cats/{id}': { delete: operation('deleteCat', idIn('path', 'id')) },
    },
  });
  const creator = (id: string) => creatorOf(operationIn(document, id), document.operations)?.id;
  expect(['delete', 'close', 'deleteBeds', 'deleteCat'].map(creator)).toEqual([
    'create',
    'create',
    'create',
    undefined,
  ]);
});
