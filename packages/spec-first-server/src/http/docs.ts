import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { RequestHandler } from 'express';
import { isObject, type Json, METHODS, objectAt, stringifyJson } from 'openapi-document';
import { stringify as stringifyYaml } from 'yaml';

const ours = join(import.meta.dirname, 'docs');
const swaggerUi = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

const files: readonly (readonly [name: string, type: string, folder: string])[] = [
  ['page.css', 'text/css; charset=utf-8', ours],
  ['page.js', 'text/javascript; charset=utf-8', ours],
  ['swagger-ui.css', 'text/css; charset=utf-8', swaggerUi],
  ['swagger-ui.css.map', 'application/json; charset=utf-8', swaggerUi],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8', swaggerUi],
  ['favicon-32x32.png', 'image/png', swaggerUi],
];

/** Swagger UI needs no more than this: it sets styles by script, its icons are `data:`, images in answers `blob:`. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The document at `/openapi.json` and `/openapi.yaml`, and Swagger UI for it at `/docs`. Every URL in them is relative:
 * they work on any host and port, over HTTP and HTTPS, and behind a proxy under any prefix. Other paths and methods are
 * left to the next handler.
 *
 * @param document an OpenAPI 3.1 document whose references all point inside
 * @param basePath the path under which its operations are served: empty, or like `/v1`
 */
export function docs(document: Json, basePath: string): RequestHandler {
  const served = asServed(document, basePath);
  const handlers = new Map<string, RequestHandler>([
    ['/openapi.json', resource('application/json', () => `${stringifyJson(served)}\n`)],
    ['/openapi.yaml', resource('application/yaml', () => printYaml(served))],
    ['/docs', asPage(resource('text/html; charset=utf-8', () => html(String(objectAt(document.info).title))))],
    ['/docs/', asPage((_req, res) => void res.status(308).location('../docs').end())],
    ...files.map(([name, type, folder]): [string, RequestHandler] => [
      `/docs/${name}`,
      resource(type, () => readFileSync(join(folder, name))),
    ]),
  ]);
  return (req, res, next) => {
    const handler = req.method === 'GET' || req.method === 'HEAD' ? handlers.get(req.path) : undefined;
    if (handler === undefined) next();
    else handler(req, res, next);
  };
}

/**
 * The document with the one server that it is served from. A relative server URL is resolved against the document's
 * own (OpenAPI 3.1 §4.8.5), so nothing has to be known of hosts and prefixes. Servers of single paths and operations
 * go: this service answers all of them.
 */
function asServed(document: Json, basePath: string): Json {
  const served: Record<string, unknown> = { ...document, servers: [{ url: `.${basePath}` }] };
  if (isObject(document.paths)) served.paths = mapObjects(document.paths, itemAsServed);
  const components = objectAt(document.components);
  if (isObject(components.pathItems)) {
    served.components = { ...components, pathItems: mapObjects(components.pathItems, itemAsServed) };
  }
  return served;
}

const itemAsServed = (item: Json): Json =>
  mapObjects(withoutServers(item), (value, key) => (methods.has(key) ? withoutServers(value) : value));

const methods = new Set<string>(METHODS);

const withoutServers = ({ servers: _, ...rest }: Json): Json => rest;

const mapObjects = (object: Json, change: (value: Json, key: string) => Json): Json =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, isObject(value) ? change(value, key) : value]));

/** YAML that readers of YAML 1.1 understand as readers of 1.2 do: `"no"` is a string to both. */
const printYaml = (document: Json): string =>
  stringifyYaml(document, { aliasDuplicateObjects: false, compat: 'yaml-1.1', lineWidth: 120 });

/** Answers under the page's own policy, in the place of the one for JSON. */
const asPage =
  (answer: RequestHandler): RequestHandler =>
  (req, res, next) => {
    res.setHeader('Content-Security-Policy', contentSecurityPolicy);
    answer(req, res, next);
  };

const html = (title: string): string => `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${escapeHtml(title)}</title>
  <link rel="icon" href="docs/favicon-32x32.png">
  <link rel="stylesheet" href="docs/swagger-ui.css">
  <link rel="stylesheet" href="docs/page.css">
  <script src="docs/swagger-ui-bundle.js" defer></script>
  <script src="docs/page.js" defer></script>
</head>
<body>
  <div id="swagger-ui"></div>
  <noscript>This page needs JavaScript. The document itself is <a href="openapi.yaml">openapi.yaml</a>.</noscript>
</body>
</html>
`;

const escapeHtml = (plain: string): string =>
  plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * Answers from memory with what `make` returns at the first request. Its digest is the strong `ETag`, so that browsers
 * ask each time and get it only when it has changed: its URL stays the same across versions.
 */
function resource(type: string, make: () => string | Buffer): RequestHandler {
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
