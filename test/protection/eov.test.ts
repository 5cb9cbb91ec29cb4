import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, jest, test } from '@jest/globals';
import express, { type ErrorRequestHandler } from 'express';
import { middleware } from 'express-openapi-validator';
import { stringifyJson } from 'spec-first-server';
import { randomly } from './randomly.ts';
import { mapKeywords, opened, type Schema } from './schemas.ts';
import { documentOf, serve } from './serve.ts';

// EOV logs a warning for unknown formats.
jest.spyOn(console, 'warn').mockImplementation(() => undefined);

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
});

/** Serves a document with the middleware of EOV. Returns a function that sends a value both ways. */
async function serveEov(document: object) {
  let sent: unknown;
  const app = express();
  app.use(express.json({ strict: false }));
  const apiSpec = Object(structuredClone(document));
  app.use(middleware({ apiSpec, validateRequests: true, validateResponses: true }));
  app.post('/', (_request, response) => void response.status(204).end());
  app.get('/', (_request, response) => void response.json(sent));
  const onError: ErrorRequestHandler = ({ status = 500 }, _request, response, _next) => {
    response.status(status).end();
  };
  app.use(onError);
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  servers.push(server);

  return async (value: unknown) => {
    sent = value;
    const headers = { 'Content-Type': 'application/json' };
    const options = { method: 'POST', headers, body: stringifyJson(value) ?? '' };
    const [request, reply] = [await fetch(url, options), await fetch(url)];
    return { request: request.status, reply: reply.status };
  };
}

/** Keywords on which the results differ. `test/eov-reference.test.ts` lists the differences. */
const DIFFERENT = /^(readOnly|writeOnly|default|discriminator|prefixItems|unevaluated.*)$/;

const isComposite = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** Returns a schema on which the results agree. */
const common = (schema: Schema): Schema =>
  mapKeywords(opened(schema), (part) => {
    const entries = Object.entries(part).filter(
      ([keyword, value]) =>
        !DIFFERENT.test(keyword) &&
        // EOV accepts days and hours that do not exist.
        !(keyword === 'format' && /date|time/.test(String(value))) &&
        // EOV rejects objects and arrays in `const` and `enum`, and multiples of decimals.
        !(keyword === 'const' && isComposite(value)) &&
        !(keyword === 'enum' && Object.values(Object(value)).some(isComposite)) &&
        !(keyword === 'multipleOf' && Number(value) < 0.5),
    );
    return Object.fromEntries(entries);
  });

/** Returns a value without integers beyond 2^53, which EOV rounds, and names that EOV inherits. */
function plain<T>(value: T): T {
  const text = String(stringifyJson(value)).replaceAll('constructor', 'd');
  return JSON.parse(text.replaceAll(/\d{16,}/g, (digits) => digits.slice(-1)));
}

test('express-openapi-validator accepts the same requests and replies', () =>
  randomly(
    (schema) => plain(common(schema)),
    async (schema) => {
      const document = documentOf({ Root: schema });
      const send = await serve(document);
      const sendToEov = await serveEov(document);
      return async (random) => {
        const value = plain(random);
        // EOV answers 500 to a reply that is null.
        if (value === null) return;
        const { request, reply } = await send(value);
        const statuses = { request: request.status, reply: reply.status };
        expect({ value, ...statuses }).toEqual({ value, ...(await sendToEov(value)) });
      };
    },
  ));
