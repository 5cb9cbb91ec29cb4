import { isUtf8 } from 'node:buffer';
import { hash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { middleware } from 'express-openapi-validator';
import helmet from 'helmet';
import { parse } from 'yaml';
import { plantHandlers } from '../../src/plants.ts';
import type { PlantStore } from '../../src/stores/store.ts';

const document = parse(readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8'));

/** Rejects text that would be stored with other characters. */
function requireUtf8(_request: unknown, _response: unknown, body: Buffer): void {
  if (!isUtf8(body)) throw Object.assign(new Error('the body must be UTF-8'), { status: 400 });
}

/** Replaces `Content-Type`: the middleware keeps a compiled schema for each text that it sees. */
const normalizeType: RequestHandler = (request, _response, next) => {
  const isJson = request.is('application/json');
  delete request.headers['content-type'];
  if (isJson !== null) request.headers['content-type'] = isJson || 'application/octet-stream';
  next();
};

const sendError: ErrorRequestHandler = (failure, _request, response, _next) => {
  const { status = 500, type, headers = {} } = failure;
  if (status >= 500) console.error(failure);
  let message = String(failure.message).replaceAll('request/body', '/body');
  // The parser's message contains a part of the body, and others may contain secrets.
  if (type === 'entity.parse.failed') message = 'the body must be JSON';
  if (status >= 500) message = String(STATUS_CODES[status]).toLowerCase();
  if (status === 401) response.set('WWW-Authenticate', 'Bearer');
  response.status(status).set(headers).json({ error: status, message });
};

export function createApp(store: PlantStore, accessTokens: readonly string[]): Express {
  const digests = new Set(accessTokens.map((token) => hash('sha256', token)));
  const { createPlant } = plantHandlers(store);
  const app = express().enable('case sensitive routing');
  app.use(helmet());
  app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
  app.use(express.json({ strict: false, verify: requireUtf8 }), normalizeType);
  app.use(
    middleware({
      // The middleware would read the variable of the declared address as a part of each path.
      apiSpec: { ...document, servers: [{ url: '/' }] },
      validateResponses: true,
      // Rejects integers that JavaScript rounds.
      formats: { int64: { type: 'number', validate: Number.isSafeInteger } },
      validateSecurity: {
        handlers: {
          bearerAuth({ headers: { authorization = '' } }) {
            const [, token = ''] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
            return digests.has(hash('sha256', token));
          },
        },
      },
    }),
  );
  app.post('/plants', async (request, response) => {
    const { body, headers } = request;
    const { status, body: plant } = await createPlant({
      ...{ body, headers, path: {}, query: {}, header: {}, cookie: {} },
      contentType: 'application/json',
      caller: { subject: undefined, scopes: 'all' },
      callers: undefined,
      id: randomUUID(),
      log: console,
      accepts: (...types) => types[0],
      signal: new AbortController().signal,
    });
    response.status(status).json(plant);
  });
  return app.use(sendError);
}
