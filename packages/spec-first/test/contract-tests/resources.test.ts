import { describe, expect, test } from '@jest/globals';
import { trackResources } from '../../src/contract-tests/resources.ts';
import { documentOf, json, operationIn, requestValues, responseOf } from './test-data.ts';

const path = (name: string, type = 'string') => ({
  name,
  in: 'path',
  required: true,
  schema: { type },
});
const roomPath = [
  { ...path('roomId'), in: 'query', required: false },
  path('hotelId', 'integer'),
  path('roomId', 'integer'),
];
const operation = (operationId: string, members: object = {}) => ({
  operationId,
  responses: { '200': { description: '', ...json({}) } },
  ...members,
});
const links = {
  invoice: {
    operationId: 'getInvoice',
    parameters: { number: '$response.body#/invoice/number' },
  },
  same: { $ref: '#/components/links/room' },
  missing: { operationId: 'unknown', parameters: { a: 1 } },
};
const PATHS = {
  '/hotels': { post: operation('addHotel'), get: operation('listHotels') },
  '/hotels/{hotelId}': {
    parameters: [path('hotelId', 'integer')],
    get: operation('getHotel'),
    delete: operation('deleteHotel'),
  },
  '/hotels/{hotelId}/rooms': {
    parameters: [path('hotelId', 'integer')],
    post: operation('addRoom', {
      requestBody: json({}),
      responses: { '201': { description: '', ...json({}), links } },
    }),
    get: operation('listRooms'),
    delete: operation('deleteRooms'),
  },
  '/hotels/{hotelId}/rooms/{roomId}': {
    parameters: roomPath,
    get: operation('getRoom'),
    put: operation('putRoom'),
    delete: operation('deleteRoom'),
  },
  '/hotels/{hotelId}/rooms/{roomId}/photo': {
    parameters: roomPath,
    delete: operation('deletePhoto'),
  },
  '/invoices/{number}': { parameters: [path('number')], get: operation('getInvoice') },
  '/guests': {
    post: operation('addGuest', {
      responses: { '201': { description: '', ...json({ $ref: '#/components/schemas/Person' }) } },
    }),
  },
  '/cats/{id}': { parameters: [path('id')], get: operation('getCat') },
  '/guests/{name}': {
    parameters: [path('name')],
    get: operation('getGuest'),
    delete: operation('deleteGuest'),
  },
};
const COMPONENTS = {
  schemas: { Person: { type: 'object' } },
  links: {
    room: {
      operationId: 'getRoom',
      parameters: { 'path.roomId': '$response.header.X-Room' },
    },
  },
};

/** Returns resources whose functions take the id of an operation. */
async function tracked() {
  const document = await documentOf({ paths: PATHS, components: COMPONENTS });
  const resources = trackResources(document.root, document.operations);
  const operationOf = (id: string) => operationIn(document, id);
  return {
    ...resources,
    addResponse: (
      id: string,
      values: Readonly<Record<string, unknown>>,
      body: unknown = '',
      headers: Readonly<Record<string, string>> = {},
      status = 200,
      url?: string,
    ) => {
      const response = responseOf(status, headers, body, url);
      return Object.fromEntries(
        resources.addResponse(operationOf(id), requestValues(operationOf(id), values), response),
      );
    },
    pathOf: (id: string, fraction = 0) => resources.pathOf(operationOf(id), fraction),
    etagOf: (id: string, subject: object) => resources.etagOf(operationOf(id), { ...subject }),
    cursorOf: (id: string) => resources.cursorOf(operationOf(id)),
    isKnown: (id: string) => resources.isKnown(operationOf(id)),
  };
}

describe('the path of an existing resource', () => {
  test.each([
    ['the id of a created resource', 'addHotel', {}, { id: 7 }, {}, { hotelId: 7 }],
    [
      'a member with the name of the parameter',
      'addHotel',
      {},
      { hotelId: 7, id: 8 },
      {},
      { hotelId: 7 },
    ],
    ['an item of a list', 'listHotels', {}, [{ id: 7 }], {}, { hotelId: 7 }],
    ['an item of a member', 'listHotels', {}, { items: [{ id: 7 }] }, {}, { hotelId: 7 }],
    ['a successful request', 'getHotel', { 'path hotelId': 7 }, '', {}, { hotelId: 7 }],
    ['the Location header', 'addHotel', {}, '', { location: '/v1/../hotels/7' }, { hotelId: 7 }],
    [
      'an absolute Location header',
      'addHotel',
      {},
      '',
      { location: 'http://a/hotels/7?b' },
      { hotelId: 7 },
    ],
    ['nothing: an id of a wrong type', 'addHotel', {}, { id: { a: 7 } }, {}, {}],
    ['nothing: a Location with another path', 'addHotel', {}, '', { location: '/hostels/7' }, {}],
    ['nothing: an invalid Location', 'addHotel', {}, '', { location: 'http://' }, {}],
  ])('comes from %s', async (_name, id, values, body, headers, expected) => {
    const { addResponse, pathOf } = await tracked();
    addResponse(id, values, body, headers);
    expect(pathOf('getHotel')).toEqual(expected);
  });

  test('comes from a Location relative to the URL of the request, rather than from a body', async () => {
    const { addResponse, pathOf } = await tracked();
    const url = 'http://host/v1/hotels/7/rooms';
    const headers = { location: 'rooms/4' };
    expect(
      addResponse('addRoom', { 'path hotelId': 7, body: {} }, { id: 3 }, headers, 201, url),
    ).toEqual({
      '/hotels/{hotelId}': { hotelId: 7 },
      '/hotels/{hotelId}/rooms/{roomId}': { hotelId: 7, roomId: 4 },
    });
    expect(pathOf('getRoom')).toEqual({ hotelId: 7, roomId: 4 });
  });

  test('comes from the response for a collection in another resource', async () => {
    const { addResponse, pathOf } = await tracked();
    expect(addResponse('addRoom', { 'path hotelId': 7, body: {} }, { id: 3 })).toEqual({
      '/hotels/{hotelId}': { hotelId: 7 },
      '/hotels/{hotelId}/rooms/{roomId}': { hotelId: 7, roomId: 3 },
    });
    expect(pathOf('getRoom')).toEqual({ hotelId: 7, roomId: 3 });
    expect(pathOf('deletePhoto')).toEqual({ hotelId: 7, roomId: 3 });
    expect(addResponse('addRoom', { 'path hotelId': 8 }, { size: 3 })).toEqual({
      '/hotels/{hotelId}': { hotelId: 8 },
    });
  });

  test('comes from each item of a list in another resource', async () => {
    const { addResponse, pathOf } = await tracked();
    const items = [{ id: 3 }, { roomId: 4 }];
    expect(addResponse('listRooms', { 'path hotelId': 7 }, { total: 2, items })).toEqual({
      '/hotels/{hotelId}': { hotelId: 7 },
    });
    expect([pathOf('getRoom', 0), pathOf('getRoom', 0.5)]).toEqual([
      { hotelId: 7, roomId: 4 },
      { hotelId: 7, roomId: 3 },
    ]);
  });

  test('comes from the response for the resource itself', async () => {
    const { addResponse, pathOf } = await tracked();
    addResponse('putRoom', { 'path hotelId': 7, 'path roomId': 3 }, { id: 5 });
    expect(pathOf('getRoom')).toEqual({ hotelId: 7, roomId: 5 });
  });

  test('does not use the ids of a list inside the resource', async () => {
    const { addResponse, pathOf, idsOf } = await tracked();
    const rooms = [{ id: 8, guestId: 5 }, { id: 9 }];
    addResponse('addHotel', {}, { id: 7, rooms });
    expect([pathOf('getHotel'), idsOf('hotelId'), idsOf('guestId')]).toEqual([
      { hotelId: 7 },
      [7],
      [5],
    ]);
    addResponse('getHotel', { 'path hotelId': 6 }, { hotelId: 6, rooms });
    expect(pathOf('getHotel')).toEqual({ hotelId: 6 });
  });

  test('does not use the id of an object, if the parameter has another name', async () => {
    const { addResponse, pathOf } = await tracked();
    addResponse('addGuest', {}, { id: 9 });
    expect(pathOf('getGuest')).toStrictEqual({});
  });

  test.each([
    ['petid', '/pets', { petid: 7 }],
    ['grid', '/plans', {}],
  ])(
    'uses the id of an object only if the parameter has the name of an id: %s',
    async (name, list, expected) => {
      const document = await documentOf({
        paths: {
          [list]: { post: operation('add') },
          [`${list}/{${name}}`]: { parameters: [path(name, 'integer')], get: operation('get') },
        },
      });
      const add = operationIn(document, 'add');
      const get = operationIn(document, 'get');
      const resources = trackResources(document.root, document.operations);
      resources.addResponse(add, new Map(), responseOf(200, {}, { id: 7 }));
      expect(resources.pathOf(get, 0)).toEqual(expected);
    },
  );

  test('comes from links', async () => {
    const { addResponse, pathOf } = await tracked();
    const body = { invoice: { number: 'A-1' } };
    addResponse('addRoom', { 'path hotelId': 7 }, body, { 'x-room': '3' }, 201);
    expect(pathOf('getInvoice')).toEqual({ number: 'A-1' });
    expect(pathOf('getRoom')).toEqual({ hotelId: 7, roomId: 3 });
  });

  test.each([199, 300, 404])('does not come from a response with the status %i', async (status) => {
    const { addResponse, pathOf } = await tracked();
    expect(addResponse('addHotel', {}, { id: 7 }, {}, status)).toEqual({});
    expect(pathOf('getHotel')).toEqual({});
  });

  test('is selected from distinct resources, newest first', async () => {
    const { addResponse, pathOf } = await tracked();
    for (const id of [1, 2, 2, 3, 4, 3]) addResponse('addHotel', {}, { id });
    const selected = [0, 0.3, 0.5, 0.99].map((fraction) => pathOf('getHotel', fraction));
    expect(selected.map(({ hotelId }) => hotelId)).toEqual([4, 3, 2, 1]);
  });

  test('is one of the 50 newest', async () => {
    const { addResponse, pathOf, idsOf } = await tracked();
    for (let id = 1; id <= 60; id += 1) addResponse('addHotel', {}, { id });
    expect(pathOf('getHotel', 0.999)).toEqual({ hotelId: 11 });
    expect(idsOf('hotelId')).toHaveLength(50);
    expect(idsOf('hotelId')[0]).toBe(60);
  });

  test('has the ids of the option `seed`, even if responses contain others', async () => {
    const { addResponse, pathOf, addSeededIds } = await tracked();
    addSeededIds({ hotelId: 5 });
    addResponse('addHotel', {}, { id: 7 });
    expect(pathOf('getHotel')).toEqual({ hotelId: 5 });
    expect(pathOf('getRoom')).toEqual({ hotelId: 5 });
  });

  test.each([
    ['/rooms/{roomId}', { room_id: 3 }, { roomId: 3 }],
    ['/rooms/{id}', { roomId: 3 }, { id: 3 }],
    ['/rooms/{ID}/photo', { id: 3 }, { ID: 3 }],
    ['/rooms/{id}/beds/{bedId}', { id: 1, roomId: 3 }, { id: 3, bedId: 8 }],
    ['/rooms/{id}', { hotelId: 3 }, { id: 8 }],
  ])('at %s with the seed %p is %p', async (template, seed, expected) => {
    const names = Object.keys(expected);
    const get = operation('get', { parameters: names.map((name) => path(name, 'integer')) });
    const document = await documentOf({ paths: { [template]: { get } } });
    const call = operationIn(document, 'get');
    const resources = trackResources(document.root, document.operations);
    resources.addSeededIds(seed);
    const values = Object.fromEntries(names.map((name) => [`path ${name}`, 8]));
    resources.addResponse(call, requestValues(call, values), responseOf(200));
    expect(resources.pathOf(call, 0)).toEqual(expected);
  });

  test('has the ids of other responses for a parameter with the name id', async () => {
    const { addResponse, pathOf } = await tracked();
    addResponse('addGuest', {}, { cat_id: 'tom' });
    expect(pathOf('getCat')).toEqual({ id: 'tom' });
  });

  test('has the newest ids by name, if no response has the whole path', async () => {
    const { addResponse, pathOf } = await tracked();
    addResponse('addGuest', {}, { hotel_id: 7, ROOM_ID: 3 });
    expect(pathOf('getRoom')).toEqual({ hotelId: 7, roomId: 3 });
  });
});

test.each([
  ['$request.path.id', 'in the path'],
  ['$request.query.number', 'in the query'],
  ['$request.header.x-sent', 'in a header of the request'],
  ['$request.body#/a/0', 'in the request'],
  ['$response.body#/a/0', 'in the response'],
  ['$response.header.X-Number', 'in a header'],
  ['A-1', 'A-1'],
  ['no. $request.body', 'no. $request.body'],
])('the link parameter %s has the value "%s"', async (expression, number) => {
  const link = { operationId: 'getInvoice', parameters: { number: expression } };
  const response = { description: '', ...json({}), links: { link } };
  const { root, operations } = await documentOf({
    paths: {
      '/carts/{id}': {
        parameters: [
          path('id'),
          { name: 'number', in: 'query', schema: { type: 'string' } },
          { name: 'X-Sent', in: 'header', schema: { type: 'string' } },
        ],
        post: operation('pay', { requestBody: json({}), responses: { '200': response } }),
      },
      '/invoices/{number}': { parameters: [path('number')], get: operation('getInvoice') },
    },
  });
  const [pay, getInvoice] = operations;
  if (pay === undefined || getInvoice === undefined) throw new Error('an operation is missing');
  const values = requestValues(pay, {
    'path id': 'in the path',
    'query number': 'in the query',
    'header X-Sent': 'in a header of the request',
    body: { a: ['in the request'] },
  });
  const resources = trackResources(root, operations);
  resources.addResponse(
    pay,
    values,
    responseOf(200, { 'x-number': 'in a header' }, { a: ['in the response'] }),
  );
  expect(resources.pathOf(getInvoice, 0)).toEqual({ number });
});

describe('ids by name', () => {
  test.each([
    ['members of other resources', 'addGuest', { hotelId: 7, name: 'ada' }, 'hotel_id', [7]],
    ['the id of the schema', 'addGuest', { id: 9 }, 'personId', [9]],
    ['the id of the collection', 'addGuest', { id: 9 }, 'guest_id', [9]],
    ['the ids of a list', 'listHotels', [{ id: 1 }, { id: 2 }], 'hotelId', [2, 1]],
    ['the ids of a list in a member', 'listHotels', { items: [{ id: 1 }] }, 'hotelId', [1]],
    [
      'at most five objects',
      'listHotels',
      [1, 2, 3, 4, 5, 6].map((id) => ({ id })),
      'hotelId',
      [5, 4, 3, 2, 1],
    ],
    ['nothing: a body without an id', 'addGuest', { title: 'Dr.' }, 'guestId', []],
    ['nothing: a name without Id', 'addGuest', { title: 'Dr.' }, 'title', []],
    ['nothing: a word that ends with id', 'addGuest', { paid: 7 }, 'paid', []],
    [
      'nothing: objects, empty texts and null',
      'listHotels',
      [{ roomId: {} }, { roomId: '' }, { roomId: null }],
      'roomId',
      [],
    ],
  ])('come from %s', async (_name, id, body, name, expected) => {
    const { addResponse, idsOf } = await tracked();
    addResponse(id, {}, body, {}, id === 'addGuest' ? 201 : 200);
    expect(idsOf(name)).toEqual(expected);
  });

  test('from a list do not get the name of the schema of the response', async () => {
    const { addResponse, idsOf } = await tracked();
    addResponse('addGuest', {}, { total: 1, items: [{ id: 9 }] }, {}, 201);
    addResponse('addGuest', {}, [{ id: 10 }], {}, 201);
    expect([idsOf('guestId'), idsOf('personId')]).toEqual([[10, 9], []]);
  });

  test.each([
    ['petid', 'petid', [7]],
    ['petId', 'petid', [7]],
    ['paid', 'petid', []],
    ['name', 'name', []],
  ])(
    'come from the member %s, if a path has the parameter %s: %p',
    async (name, parameter, ids) => {
      const document = await documentOf({
        paths: {
          '/orders': { post: operation('order') },
          [`/pets/{${parameter}}`]: { parameters: [path(parameter)], get: operation('get') },
        },
      });
      const resources = trackResources(document.root, document.operations);
      const order = operationIn(document, 'order');
      resources.addResponse(order, new Map(), responseOf(200, {}, { [name]: 7 }));
      expect(resources.idsOf(name)).toEqual(ids);
    },
  );

  test('come from paths', async () => {
    const { addResponse, idsOf } = await tracked();
    addResponse('getInvoice', { 'path number': 'A-1' });
    expect(idsOf('number')).toEqual(['A-1']);
  });

  test.each([
    ['/cats/{id}', 'id', 'catId'],
    ['/cats/{ID}', 'ID', 'catId'],
    ['/cats/{_id}/toys', '_id', 'cat_id'],
    ['/{id}', 'id', 'rootId'],
  ])('from %s have the name of a collection, never %s', async (template, parameter, name) => {
    const get = operation('get', { parameters: [path(parameter)] });
    const document = await documentOf({ paths: { [template]: { get } } });
    const resources = trackResources(document.root, document.operations);
    const values = requestValues(operationIn(document, 'get'), { [`path ${parameter}`]: 'tom' });
    resources.addResponse(operationIn(document, 'get'), values, responseOf(200, {}, { id: 'tom' }));
    resources.addSeededIds({ id: 'ann' });
    expect(['id', 'ID', '_id'].flatMap(resources.idsOf)).toEqual([]);
    expect(resources.idsOf(name)).toEqual(name === 'rootId' ? [] : ['tom']);
  });

  test('come from the option `seed`', async () => {
    const { addSeededIds, idsOf } = await tracked();
    addSeededIds({ room_id: 3n });
    expect(idsOf('roomId')).toEqual([3n]);
  });
});

describe('a deletion', () => {
  const withRooms = async () => {
    const resources = await tracked();
    resources.addResponse('getInvoice', { 'path number': 'A-1' });
    resources.addResponse('putRoom', { 'path hotelId': 7, 'path roomId': 3 });
    resources.addResponse('putRoom', { 'path hotelId': 7, 'path roomId': 4 });
    resources.addResponse('putRoom', { 'path hotelId': 8, 'path roomId': 5 });
    resources.addResponse('getHotel', { 'path hotelId': 7 });
    const rooms = () =>
      [0.9, 0.5, 0].map((fraction) => resources.pathOf('getRoom', fraction).roomId);
    return { ...resources, rooms };
  };

  test.each([
    ['deleteRoom', { 'path hotelId': 7, 'path roomId': 3 }, [4, 4, 5], [5, 4], 7],
    ['deleteHotel', { 'path hotelId': 7 }, [5, 5, 5], [5, 4, 3], undefined],
    ['deleteRooms', { 'path hotelId': 7 }, [5, 5, 5], [5, 4, 3], 7],
    ['deletePhoto', { 'path hotelId': 7, 'path roomId': 3 }, [3, 4, 5], [5, 4, 3], 7],
  ])('by %s removes its resource and those below', async (id, values, expected, ids, hotel) => {
    const { addResponse, rooms, pathOf, idsOf } = await withRooms();
    expect(addResponse(id, values, { id: 99 }, {}, 204)).toEqual({});
    expect(rooms()).toEqual(expected);
    expect(idsOf('roomId')).toEqual(ids);
    expect(idsOf('hotelId').includes(7)).toBe(hotel === 7);
    expect(pathOf('getInvoice')).toEqual({ number: 'A-1' });
  });

  test('keeps equal ids of other resources', async () => {
    const { addResponse, idsOf } = await tracked();
    addResponse('putRoom', { 'path roomId': 7, 'path hotelId': 7 });
    addResponse('listHotels', {}, [{ guestId: 7 }]);
    addResponse('deleteRoom', { 'path roomId': 7, 'path hotelId': 7 }, '', {}, 204);
    expect(['roomId', 'hotelId', 'guestId'].map(idsOf)).toEqual([[], [7], [7]]);
  });

  test('removes the ids under the names of the collection and of the schema', async () => {
    const { addResponse, idsOf } = await tracked();
    addResponse('addGuest', {}, { id: 'ada' }, {}, 201);
    expect(['guestId', 'personId'].map(idsOf)).toEqual([['ada'], ['ada']]);
    addResponse('deleteGuest', { 'path name': 'ada' }, '', {}, 204);
    expect(['guestId', 'personId'].map(idsOf)).toEqual([[], []]);
  });

  test('removes an id of the option `seed`', async () => {
    const { addResponse, addSeededIds, pathOf } = await tracked();
    addSeededIds({ hotelId: 5 });
    addResponse('addHotel', {}, { id: 7 });
    addResponse('deleteHotel', { 'path hotelId': 7 }, '', {}, 204);
    expect(pathOf('getHotel')).toEqual({ hotelId: 5 });
    addResponse('addHotel', {}, { id: 8 });
    addResponse('deleteHotel', { 'path hotelId': 5 }, '', {}, 204);
    expect(pathOf('getHotel')).toEqual({ hotelId: 8 });
  });

  test('that fails removes nothing', async () => {
    const { addResponse, rooms } = await withRooms();
    addResponse('deleteHotel', { 'path hotelId': 7 }, '', {}, 404);
    expect(rooms()).toEqual([3, 4, 5]);
  });
});

test('the entity tag of a resource comes from its last response with a tag', async () => {
  const { addResponse, etagOf } = await tracked();
  addResponse('addHotel', {}, { id: 7 }, { etag: '"1"' });
  addResponse('addHotel', {}, { id: 8 }, { etag: '"2"' });
  addResponse('getHotel', { 'path hotelId': 7 }, '', { etag: '"3"' });
  addResponse('getHotel', { 'path hotelId': 7 }, '');
  const tags = [7, 8, 9].map((hotelId) => etagOf('getHotel', { hotelId }));
  expect(tags).toEqual(['"3"', '"2"', undefined]);
  expect(etagOf('getGuest', { name: 7 })).toBeUndefined();
});

test('a resource is known until it is deleted', async () => {
  const { addResponse, isKnown } = await tracked();
  const path = { 'path hotelId': 7, 'path roomId': 3 };
  expect(isKnown('deleteRoom')).toBe(false);
  addResponse('putRoom', path);
  expect([isKnown('deleteRoom'), isKnown('deletePhoto'), isKnown('addHotel')]).toEqual([
    true,
    false,
    false,
  ]);
  addResponse('deleteRoom', path, '', {}, 204);
  expect(isKnown('deleteRoom')).toBe(false);
});

test('the cursor of a list comes from its last page with a cursor', async () => {
  const { addResponse, cursorOf } = await tracked();
  expect(cursorOf('listHotels')).toBeUndefined();
  addResponse('listHotels', {}, { items: [], next: 'a' });
  addResponse('listHotels', {}, { items: [], next: null });
  expect([cursorOf('listHotels'), cursorOf('listRooms')]).toEqual(['a', undefined]);
});
