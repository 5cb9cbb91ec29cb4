import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { documentFile, echo, scripted, serve } from 'test-support/documents';
import type { AnyHandler } from '../src/core/handlers/types.ts';
import type { ErrorBody } from '../src/core/response/problem.ts';

type Served = Awaited<ReturnType<typeof serve>>;
const handlersFor = (handler: AnyHandler, ...ids: string[]) =>
  Object.fromEntries(ids.map((id) => [id, handler]));

const output = [
  jest.spyOn(console, 'warn'),
  jest.spyOn(console, 'error'),
  jest.spyOn(console, 'log'),
];
afterEach(() => {
  for (const written of output) expect(written).not.toHaveBeenCalled();
});

describe('replies', () => {
  let served: Served;
  const { script, handler } = scripted();
  const Note = { text: 'a', stars: 1 };
  const headers = { 'X-Count': 1 };
  beforeAll(async () => {
    served = await serve(
      documentFile('bodies.yaml'),
      handlersFor(handler, 'take', 'optional', 'ignored', 'give', 'only', 'peek', 'any'),
    );
  });

  test.each<[string, unknown, number, string | undefined, string]>([
    [
      'a stream',
      { status: 200, contentType: 'text/csv', headers, body: 'stream' },
      200,
      'text/csv; charset=utf-8',
      'a,b',
    ],
    [
      'a blob',
      { status: 200, contentType: 'image/png', headers, body: new Blob(['bits']) },
      200,
      'image/png',
      'bits',
    ],

    [
      'a web stream',
      { status: 200, contentType: 'image/png', headers, body: new Blob(['bits']).stream() },
      200,
      'image/png',
      'bits',
    ],
  ])('may be %s', async (_title, reply, status, type, body) => {
    const stream = (reply as { body?: unknown }).body === 'stream';
    script.next = () =>
      stream ? { ...(reply as object), body: Readable.from(['a,', 'b']) } : reply;
    const response = await served.client.get('/replies').responseType('blob');
    expect(response.status).toBe(status);
    expect(response.headers['content-type']).toBe(type);
    expect(Buffer.isBuffer(response.body) ? response.body.toString() : '').toBe(body);
  });

  test('have headers in the simple style or as JSON, and one line for each cookie', async () => {
    const otherHeaders = {
      ...headers,
      'X-Point': { x: 1, y: 2 },
      'X-Json': [1, 2],
      'Set-Cookie': ['a=1', 'b=2'],
      Vary: ['A', 'B'],
    };
    script.next = () => ({
      status: 200,
      contentType: 'application/json',
      headers: otherHeaders,
      body: Note,
    });
    const response = await served.client.get('/replies').expect(200);
    expect(response.headers).toMatchObject({
      'x-count': '1',
      'x-point': 'x,1,y,2',
      'x-json': '[1,2]',
      vary: 'A, B',
    });
    expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2']);
  });

  test('whose stream fails before its first byte become a 500 without the headers of the handler', async () => {
    const body = new Readable({ read: (): void => void body.destroy(new Error('gone')) });
    const replyHeaders = {
      'Cache-Control': 'max-age=60',
      'Content-Encoding': 'br',
      ETag: '"1"',
      'Referrer-Policy': 'origin',
    };
    script.next = () => ({
      status: 200,
      contentType: 'text/csv',
      headers: { ...headers, ...replyHeaders },
      body,
    });
    const failed = await served.client.get('/replies').expect(500);
    for (const name of ['cache-control', 'content-encoding', 'etag', 'x-count']) {
      expect(failed.headers).not.toHaveProperty(name);
    }
    expect(failed.headers['referrer-policy']).toBe('no-referrer');
    expect(failed.body.error).toBe(500);
  });

  test('of type */* may be JSON, which is validated', async () => {
    script.next = () => ({ status: 200, contentType: 'application/json', body: Note });
    await served.client.get('/any').expect(200, Note);
    script.next = () => ({ status: 200, contentType: 'application/json', body: {} });
    await served.client.get('/any').expect(500);
    script.next = () => ({ status: 200, contentType: 'image/png', body: Buffer.from('bits') });
    await served.client.get('/any').expect(500);
  });
});

describe('uncommon documents', () => {
  let served: Served;
  const { script, handler } = scripted();
  beforeAll(async () => {
    served = await serve(documentFile('uncommon.yaml'), {
      ...handlersFor(echo, 'merged', 'near', 'deep', 'own', 'amounts'),
      texts: async (request) =>
        request.body instanceof Readable
          ? { status: 200, contentType: 'application/json', body: await text(request.body) }
          : handler(request),
    });
  });
  const query = (target: string) =>
    served.client
      .get(target)
      .then(({ status, body }) => (status === 200 ? body.query : body.message));

  test('a text is read as a number, as JSON, or without validation', async () => {
    const post = (type: string, body: string) =>
      served.client.post('/texts').set('Content-Type', type).send(body);
    expect(served.lines).toEqual([
      expect.objectContaining({
        msg: 'some parts of the document are corrected, ignored or not checked',
        locations: [
          ...[
            'bodies of text/csv are not checked against their schema',
            'bodies of text/event-stream are not checked against their schema',
            'events are sent as plain bytes',
            'bodies of application/xml are not checked against their schema',
          ].map((message) => expect.stringContaining(message)),
        ],
      }),
    ]);
    script.next = () => ({ status: 200, contentType: 'application/json', body: 1 });
    await post('text/plain', '5').expect(200);
    await post('text/plain', 'five').expect(400);
    await post('text/json', '{"n":1}').expect(200);
    await post('text/json', '{}').expect(400);
    expect((await post('text/csv', 'a,b').expect(200)).body).toBe('a,b');
  });

  test.each<[string, unknown, number, string]>([
    ['text/plain', 5, 200, '5'],
    ['text/plain', 'five', 500, ''],
    ['application/json;profile=two', 1, 500, ''],
    ['application/json; profile="one"', 1, 200, '1'],
  ])(
    'a reply of %s with the body %j has the status %i',
    async (contentType, body, status, sent) => {
      script.next = () => ({ status: 200, contentType, body });
      const response = await served.client
        .post('/texts')
        .set('Content-Type', 'text/plain')
        .send('5')
        .responseType('blob')
        .expect(status);
      if (status === 200) expect(String(response.body)).toBe(sent);
    },
  );

  test.each<[string, unknown]>([
    ['/merged?first=9&second=9', { first: 9, second: 9 }],
    ['/merged?first=10', '/query/first must be <= 9'],

    ['/near?q=one', '/query/q must be integer'],
    ['/deep?f[a][min]=1&f[word]=x', { f: { a: { min: 1 }, word: 'x' } }],

    ['/deep?expand[]=a&expand[]=b', { expand: ['a', 'b'] }],
    ['/amounts?cents=19.99', { cents: 19.99 }],
    ['/amounts?dozens=25', '/query/dozens must be multiple of 12'],
  ])('%s has the query or the error message %j', async (target, expected) => {
    expect(await query(target)).toEqual(expected);
  });

  test('members may have the names of Object.prototype', async () => {
    await served.client.post('/own').send({ toString: 1 }).expect(200);
    await served.client.post('/own').send({}).expect(400);
    await served.client.post('/own').send({ toString: 1, constructor: 1 }).expect(400);
  });
});

describe('documents of several files', () => {
  test('are served with their discriminators', async () => {
    const { client } = await serve(documentFile('split/openapi.yaml'), { putPet: echo });
    await client
      .put('/pets/1')
      .send({ kind: 'cat', lives: 9, friend: { kind: 'dog', bark: 'a' } })
      .expect(200);
    const lives = await client.put('/pets/1').send({ kind: 'cat' }).expect(400);
    expect(lives.body.message).toBe('/body/lives is required');
    const friend = await client
      .put('/pets/1')
      .send({ kind: 'dog', bark: 'a', friend: {} })
      .expect(400);
    expect(friend.body.message).toContain('/body/friend/kind');
  });
});

describe('servers', () => {
  test('have base paths, and below these, an operation may have the path of a probe', async () => {
    const health: AnyHandler = () => ({ status: 200, body: 'mine' });
    const { client, lines } = await serve(documentFile('servers.yaml'), {
      health,
      things: () => ({ status: 200, body: [] }),
    });
    await client.get('/live/api/things').expect(200, []);
    await client.get('/test/api/things').expect(200, []);
    await client.get('/live/api/healthz').expect(200, 'mine');
    await client.get('/healthz').expect(200);
    await client.get('/things').expect(404);
    await client.get('/other/api/things').expect(404);
    await client.post('/live/api/things').expect(405).expect('Allow', 'GET, HEAD');
    expect(lines.filter(({ level }) => level === 40)).toEqual([]);
  });
});

describe('error schemas of other formats', () => {
  const errorBody: ErrorBody = {
    make: ({ status, message }) => ({ title: message, status }),
    mediaType: 'application/vnd.fault+json',
  };

  test('determine the body and the media type of each error response', async () => {
    const { script, handler } = scripted();
    const { client } = await serve(documentFile('errors.yaml'), { things: handler }, { errorBody });
    const rejected = await client.post('/things').send({}).expect(400);
    expect(rejected.body).toEqual({
      title: '/body/a is required',
      status: 400,
    });
    expect(rejected.headers['content-type']).toBe('application/problem+json');
    script.next = () => ({ status: 200 });
    expect((await client.post('/things').send({ a: 1 }).expect(500)).body.status).toBe(500);
    const nowhere = await client
      .get('/nowhere')
      .expect(404)
      .expect('Content-Type', 'application/vnd.fault+json');
    expect(nowhere.body.status).toBe(404);
  });

  test('lead to problem details if errorBody does not match, and the log has the reason', async () => {
    const { client, lines } = await serve(documentFile('errors.yaml'), { things: echo });
    const { body } = await client.post('/things').send({}).expect(400);
    expect(body).toMatchObject({ status: 400, detail: '/body/a is required' });
    expect(lines.at(-1)?.reason).toContain('the body of errorBody does not match the document: /');
  });
});
