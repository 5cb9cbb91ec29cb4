import { areValid, failureOf, isObject, type Json, json } from './document.ts';
import { failure, listenerOf, type Received, type Routes, type Sent } from './http.ts';

/** The shape of a collection that differs from the usual one. */
interface Shape {
  readonly collection: string;
  readonly idName?: string;
  /** The member with the id in items: by default the name of the parameter of the path. */
  readonly idMember?: string;
  /** The status of a successful POST. */
  readonly created?: 200 | 201 | 202;
  /** The body of a successful POST: the item, its id only, or none with a `Location`. */
  readonly reply?: 'item' | 'id' | 'location';
  /** The list: an array, or an object with the items in `data`. */
  readonly list?: 'array' | 'data' | 'none';
  /** The status of a deleted item. */
  readonly gone?: 404 | 410;
  /** The body of a successful DELETE: none, or the deleted item. */
  readonly deleted?: 204 | 200;
  readonly ids?: 'integer' | 'text';
  /** The item in an envelope `{ item }`. */
  readonly isWrapped?: boolean;
  /** PUT creates an item that is missing. */
  readonly isUpsert?: boolean;
}

/** Correct services, whose collections have unusual names and shapes. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  'a collection named stops': { collection: 'stops' },
  'a collection named returns, with ids only in Location': {
    collection: 'returns',
    reply: 'location',
  },
  'a collection named archives, which answers with the id only': {
    collection: 'archives',
    reply: 'id',
  },
  'a collection named refunds, without a list': { collection: 'refunds', list: 'none' },
  'a collection named login, with integers as ids': { collection: 'login', ids: 'integer' },
  'a collection named search, in an envelope': {
    collection: 'search',
    isWrapped: true,
    list: 'data',
  },
  'a collection named cancel, whose deleted items are 410': { collection: 'cancel', gone: 410 },
  'a collection named events, whose DELETE answers with the item': {
    collection: 'events',
    deleted: 200,
  },
  'a collection whose id is named code': { collection: 'vouchers', idName: 'code' },
  'a collection whose PUT creates': { collection: 'settings', isUpsert: true },
  'a collection whose PUT creates, and whose items have the id as slug': {
    collection: 'rooms',
    idName: 'room',
    idMember: 'slug',
    isUpsert: true,
  },
  'a collection whose POST is 200': { collection: 'withdrawals', created: 200, list: 'data' },
  'a collection whose POST is 202': { collection: 'endpoints', created: 202, reply: 'id' },
};

const ITEM = {
  name: { type: 'string', minLength: 1, maxLength: 40 },
  price: { type: 'number', minimum: 0, multipleOf: 0.01 },
};

export function documentOf({
  collection,
  idName = 'id',
  idMember = idName,
  created = 201,
  reply = 'item',
  list = 'array',
  deleted = 204,
  gone = 404,
  ids = 'text',
  isWrapped = false,
  isUpsert = false,
}: Shape): string {
  const ref = { $ref: '#/components/schemas/Item' };
  const id = ids === 'integer' ? { type: 'integer', minimum: 1 } : { type: 'string', minLength: 1 };
  const itemSchema = isWrapped
    ? { type: 'object', required: ['item'], properties: { item: ref } }
    : ref;
  const requestBody = { required: true, ...json({ $ref: '#/components/schemas/NewItem' }) };
  const replies = {
    item: { description: 'The item.', ...json(itemSchema) },
    id: {
      description: 'The id.',
      ...json({ type: 'object', required: [idMember], properties: { [idMember]: id } }),
    },
    location: {
      description: 'Created.',
      headers: { Location: { required: true, schema: { type: 'string' } } },
    },
  };
  const items = { type: 'array', items: ref };
  const all =
    list === 'array' ? items : { type: 'object', required: ['data'], properties: { data: items } };
  const failures = {
    400: failureOf('Wrong.'),
    [gone]: failureOf('None.'),
    404: failureOf('None.'),
    415: failureOf('Type.'),
  };
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: collection, version: '1.0.0' },
    paths: {
      [`/${collection}`]: {
        ...(list !== 'none' && {
          get: {
            operationId: 'listItems',
            responses: { 200: { description: 'All.', ...json(all) } },
          },
        }),
        post: {
          operationId: 'addItem',
          requestBody,
          responses: {
            [created]: replies[reply],
            400: failureOf('Wrong.'),
            415: failureOf('Type.'),
          },
        },
      },
      [`/${collection}/{${idName}}`]: {
        parameters: [{ name: idName, in: 'path', required: true, schema: id }],
        get: {
          operationId: 'getItem',
          responses: { 200: { description: 'The item.', ...json(itemSchema) }, ...failures },
        },
        put: {
          operationId: 'putItem',
          requestBody,
          responses: {
            200: { description: 'The item.', ...json(itemSchema) },
            ...(isUpsert && { 201: { description: 'New.', ...json(itemSchema) } }),
            ...failures,
          },
        },
        delete: {
          operationId: 'deleteItem',
          responses: {
            ...(deleted === 204
              ? { 204: { description: 'Deleted.' } }
              : { 200: { description: 'Deleted.', ...json(itemSchema) } }),
            ...failures,
          },
        },
      },
    },
    components: {
      schemas: {
        NewItem: {
          type: 'object',
          required: ['name'],
          properties: ITEM,
        },
        Item: {
          allOf: [
            { $ref: '#/components/schemas/NewItem' },
            { type: 'object', required: [idMember], properties: { [idMember]: id } },
          ],
        },
      },
    },
  });
}

export function createItems({
  collection,
  idName = 'id',
  idMember = idName,
  created = 201,
  reply = 'item',
  list = 'array',
  deleted = 204,
  gone = 404,
  ids = 'text',
  isWrapped = false,
  isUpsert = false,
}: Shape) {
  const items = new Map<string, Json>();
  const graves = new Set<string>();
  let count = 0;
  const bodyOf = (item: Json) => (isWrapped ? { item } : item);

  function read({ headers, json }: Received): Json | Sent {
    if (headers['content-type']?.split(';')[0] !== 'application/json') return failure(415);
    if (!isObject(json) || json.name === undefined || !areValid(ITEM, json)) return failure(400);
    const { name, price } = json;
    return { name, ...(price !== undefined && { price }) };
  }

  const withId = (route: (id: string, request: Received) => Sent) => (request: Received) => {
    const [id = ''] = request.ids;
    return ids === 'integer' && !/^[1-9]\d*$/.test(id) ? failure(400) : route(id, request);
  };
  const missing = (id: string) => failure(graves.has(id) ? gone : 404);
  const idOf = (id: string) => (ids === 'integer' ? Number(id) : id);

  const routes: Routes = {
    [`GET /${collection}`]: () => {
      const data = [...items.values()];
      return { status: 200, body: list === 'array' ? data : { data } };
    },
    [`POST /${collection}`]: (request) => {
      const body = read(request);
      if ('status' in body) return body as unknown as Sent;
      count += 1;
      const id = ids === 'integer' ? String(count) : `i${count}`;
      const item = { ...body, [idMember]: idOf(id) };
      items.set(id, item);
      if (reply === 'location')
        return { status: created, headers: { Location: `/${collection}/${id}` } };
      return { status: created, body: reply === 'id' ? { [idMember]: idOf(id) } : bodyOf(item) };
    },
    [`GET /${collection}/{}`]: withId((id) => {
      const item = items.get(id);
      return item === undefined ? missing(id) : { status: 200, body: bodyOf(item) };
    }),
    [`PUT /${collection}/{}`]: withId((id, request) => {
      const body = read(request);
      if ('status' in body) return body as unknown as Sent;
      const isNew = !items.has(id);
      if (isNew && !isUpsert) return missing(id);
      const item = { ...body, [idMember]: idOf(id) };
      items.set(id, item);
      return { status: isNew ? 201 : 200, body: bodyOf(item) };
    }),
    [`DELETE /${collection}/{}`]: withId((id) => {
      const item = items.get(id);
      if (item === undefined) return missing(id);
      items.delete(id);
      graves.add(id);
      return deleted === 204 ? { status: 204 } : { status: 200, body: bodyOf(item) };
    }),
  };
  if (list === 'none') delete (routes as Record<string, unknown>)[`GET /${collection}`];
  return listenerOf(routes);
}
