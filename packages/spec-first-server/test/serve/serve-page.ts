import type { RequestHandler } from 'express';
import type { Endpoint } from '../../src/core/call.ts';

/** Serves the resources of a page; other paths and methods go to the next handler. */
export const servePage =
  (resources: ReadonlyMap<string, Endpoint['read']>): RequestHandler =>
  async (request, response, next) => {
    const read = resources.get(request.path);
    if (read === undefined || (request.method !== 'GET' && request.method !== 'HEAD'))
      return next();
    const { status = 200, type, headers, body = '' } = await read(request.headers['if-none-match']);
    response.status(status).set({ ...headers });
    if (type !== undefined) response.setHeader('Content-Type', type);
    if (status !== 304) response.setHeader('Content-Length', Buffer.byteLength(body));
    response.end(body);
  };
