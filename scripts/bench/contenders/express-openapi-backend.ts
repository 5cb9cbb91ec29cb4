/** Express with openapi-backend, as its README shows: checks requests, responses and bearer tokens. */
import { readFileSync } from 'node:fs';
import express from 'express';
import { type Document, type Handler, OpenAPIBackend, type Request } from 'openapi-backend';
import { keeper, type Plant } from './keep.ts';

const keep = keeper();
const credentials = `Bearer ${process.env.ACCESS_TOKENS}`;

const createPlant: Handler<Plant> = (c) => {
  const { id, name, tag } = c.request.requestBody;
  keep({ id, name, tag });
  return { name, tag };
};
const postResponseHandler: Handler = (c, _req: express.Request, res: express.Response) => {
  if (res.headersSent) return;
  const valid = c.api.validateResponse(c.response, c.operation);
  if (valid.errors) return res.status(502).json({ error: 502, message: 'invalid response' });
  return res.status(200).json(c.response);
};
const fail =
  (status: number, message: string): Handler =>
  (_c, _req: express.Request, res: express.Response) =>
    res.status(status).json({ error: status, message });

const definition: Document = JSON.parse(readFileSync(String(process.env.OPENAPI_FILE), 'utf8'));
// "quick" leaves out its check of the document itself, which knows OpenAPI 3.0 only.
const api = new OpenAPIBackend({ definition, quick: true });
api.register({
  createPlant,
  postResponseHandler,
  unauthorizedHandler: fail(401, 'unauthorized'),
  validationFail: fail(400, 'invalid request'),
  notFound: fail(404, 'not found'),
});
api.registerSecurityHandler('bearerAuth', (c) => c.request.headers.authorization === credentials);
await api.init();

express()
  .use(express.json())
  // The cast is that of its TypeScript example: its headers cannot be undefined, those of Express can.
  .use((req, res) => api.handleRequest(req as Request, req, res))
  .listen(Number(process.env.PORT), '127.0.0.1');
