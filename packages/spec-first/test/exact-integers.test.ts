import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import createClient from 'openapi-fetch';
import { exactIntegers } from '../templates/client/exact-integers.ts';

interface paths {
  '/echo': { post: { requestBody: { content: { 'application/json': unknown } }; responses: { 200: Echo } } };
  '/chunks': { get: { responses: { 200: Echo } } };
  '/error': { get: { responses: { 400: Echo } } };
  '/nothing': { get: { responses: { 204: { content?: never } } } };
  '/text': { get: { responses: { 200: { content: { 'text/plain': string } } } } };
}
interface Echo {
  content: { 'application/json': unknown };
}

let server: Server;
const sent: { type: string | undefined; text: string }[] = [];
const BODY = '{"ids":[1,-9223372036854775808,9007199254740993],"size":1e300,"half":0.5,"text":"12345678901234567890"}';

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    sent.push({ type: request.headers['content-type'], text });
    const json = { 'Content-Type': 'application/json; charset=utf-8' };
    if (request.url === '/echo')
      response.writeHead(200, { ...json, 'Content-Length': Buffer.byteLength(BODY) }).end(BODY);
    else if (request.url === '/nothing') response.writeHead(204).end();
    else if (request.url === '/text') response.writeHead(200, { 'Content-Type': 'text/plain' }).end(BODY);
    else {
      response.writeHead(request.url === '/error' ? 400 : 200, json).write(BODY.slice(0, 9));
      response.end(BODY.slice(9));
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});
afterAll(() => void server.close());

const client = () =>
  createClient<paths>({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ...exactIntegers });

const READ = {
  ids: [1, -9223372036854775808n, 9007199254740993n],
  size: 1e300,
  half: 0.5,
  text: '12345678901234567890',
};

test('a bigint is sent as a number, and integers beyond a safe number are read as bigint', async () => {
  const { data } = await client().POST('/echo', { body: { id: 9007199254740993n, name: 'Fern' } });
  expect(sent.at(-1)).toEqual({ type: 'application/json', text: '{"id":9007199254740993,"name":"Fern"}' });
  expect(data).toEqual(READ);
});

test('an answer without Content-Length is read exactly, too', async () => {
  expect((await client().GET('/chunks')).data).toEqual(READ);
});

test('forms are sent as forms', async () => {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  await client().POST('/echo', { body: { id: 9007199254740993n, name: 'a b' }, headers });
  expect(sent.at(-1)).toEqual({ type: headers['Content-Type'], text: 'id=9007199254740993&name=a+b' });
  const form = new FormData();
  form.set('name', 'Fern');
  await client().POST('/echo', { body: form });
  expect(sent.at(-1)?.type).toMatch(/^multipart\/form-data; boundary=/);
});

test('answers without a body and answers that are not JSON stay as they are', async () => {
  expect((await client().GET('/nothing')).data).toBeUndefined();
  expect((await client().GET('/text', { parseAs: 'text' })).data).toBe(BODY);
});

test('an error has its status and its body', async () => {
  const { error, response } = await client().GET('/error');
  expect(response.status).toBe(400);
  expect(error).toMatchObject({ half: 0.5 });
});
