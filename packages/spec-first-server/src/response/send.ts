import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import type { CheckedReply } from './reply.ts';

/** Sends a reply. Resolves when it is sent, or the client is gone. */
export async function send(response: Response, { status, headers, body }: CheckedReply): Promise<void> {
  const isHead = response.req.method === 'HEAD';
  if (body instanceof Readable && !isHead) return sendStream(response, status, headers, body);
  response.statusCode = status;
  for (const name in headers) response.setHeader(name, headers[name] ?? '');
  if (body instanceof Readable) {
    body.destroy();
    response.end();
    return;
  }
  // Node drops the body of an answer to HEAD, and its length with it.
  if (isHead && body !== undefined) response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}

/** @throws {unknown} what the stream fails with. If nothing is sent yet, the response is as it was before. */
async function sendStream(
  response: Response,
  status: number,
  headers: CheckedReply['headers'],
  body: Readable,
): Promise<void> {
  const before = response.getHeaders();
  response.statusCode = status;
  for (const name in headers) response.setHeader(name, headers[name] ?? '');
  try {
    await pipeline(body, response, { end: false });
    response.end();
  } catch (error) {
    if (response.destroyed) return;
    if (!response.headersSent) {
      for (const name in headers) response.removeHeader(name);
      for (const name in before) response.setHeader(name, before[name] ?? '');
    }
    throw error;
  }
}
