import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';

/**
 * Answers with what `make` returns at the first request, and keeps it in memory. Its digest is the strong `ETag`: browsers
 * ask each time and get the body only if it has changed.
 */
export function resource(type: string, make: () => string | Buffer): RequestHandler {
  let made: { readonly body: Buffer; readonly etag: string } | undefined;
  return (_req, res) => {
    if (made === undefined) {
      const body = Buffer.from(make());
      made = { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
    }
    res.setHeader('Content-Type', type);
    res.setHeader('ETag', made.etag);
    res.setHeader('Cache-Control', 'no-cache');
    res.send(made.body);
  };
}
