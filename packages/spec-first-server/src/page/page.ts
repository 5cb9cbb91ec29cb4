import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { RequestHandler } from 'express';
import { asObject, isObject, type Json, stringifyJson } from 'openapi-document';

export interface PageOptions {
  /** The path under which the operations are served: empty by default, or like `/v1`. */
  readonly basePath?: string;
  /** Whether each operation can be tried at once, without a click on "Try it out". By default it cannot. */
  readonly tryItOut?: boolean;
}

const ours = join(import.meta.dirname, 'browser');
const require = createRequire(import.meta.url);
const swaggerUi = dirname(require.resolve('swagger-ui-dist/package.json'));

const files: readonly (readonly [name: string, type: string, folder: string])[] = [
  ['page.css', 'text/css; charset=utf-8', ours],
  ['page.js', 'text/javascript; charset=utf-8', ours],
  ['swagger-ui.css', 'text/css; charset=utf-8', swaggerUi],
  ['swagger-ui.css.map', 'application/json; charset=utf-8', swaggerUi],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8', swaggerUi],
  ['favicon-32x32.png', 'image/png', swaggerUi],
];

/** What Swagger UI needs: it sets styles by script, its icons are `data:`, images in answers are `blob:`. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The document at `/openapi.json` and `/openapi.yaml`, and Swagger UI for it at `/docs`. Every URL in them is relative, so
 * that they work behind a proxy under any prefix. Other paths and methods go to the next handler.
 */
export function openapiPage(document: Json, { basePath = '', tryItOut = false }: PageOptions = {}): RequestHandler {
  const served = asServed(document, basePath);
  const resources = new Map<string, readonly [type: string, make: () => string | Buffer]>([
    ['/openapi.json', ['application/json', () => `${stringifyJson(served)}\n`]],
    ['/openapi.yaml', ['application/yaml', () => printYaml(served)]],
    ['/docs', ['text/html; charset=utf-8', () => html(String(asObject(document.info).title), tryItOut)]],
  ]);
  for (const [name, type, folder] of files) {
    resources.set(`/docs/${name}`, [type, () => readFileSync(join(folder, name))]);
  }
  const tagged = (text: string | Buffer) => {
    const body = Buffer.from(text);
    return { body, ETag: `"${hash('sha256', body, 'base64url')}"` };
  };
  const made = new Map<string, ReturnType<typeof tagged>>();
  return ({ method, path }, response, next) => {
    const [type, make] = resources.get(path) ?? [];
    if (method !== 'GET' && method !== 'HEAD') return next();
    if (path === '/docs/') return void response.status(308).location('../docs').end();
    if (type === undefined || make === undefined) return next();
    const { body, ETag } = made.get(path) ?? tagged(make());
    made.set(path, { body, ETag });
    // Browsers ask each time and get the body only if it has changed.
    response.set({ ETag, 'Cache-Control': 'no-cache' }).setHeader('Content-Type', type);
    if (path === '/docs') response.setHeader('Content-Security-Policy', contentSecurityPolicy);
    response.send(body);
  };
}

/** The document with one server, which answers all operations. Its URL is relative to the document's (OpenAPI 3.1 §4.8.5). */
function asServed(document: Json, basePath: string): Json {
  const { paths, components } = document;
  const { pathItems, ...others } = asObject(components);
  return {
    ...document,
    servers: [{ url: `.${basePath}` }],
    ...(isObject(paths) && { paths: withoutServers(paths, 2) }),
    ...(isObject(pathItems) && { components: { ...others, pathItems: withoutServers(pathItems, 2) } }),
  };
}

function withoutServers(value: unknown, levels: number): unknown {
  if (!isObject(value) || levels < 0) return value;
  const { servers: _, ...rest } = value;
  return Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, withoutServers(inner, levels - 1)]));
}

/** YAML that readers of YAML 1.1 understand as readers of 1.2 do: `"no"` is a string to both. */
function printYaml(document: Json): string {
  // Loaded when it is asked for: no start needs it.
  const { stringify }: typeof import('yaml') = require('yaml');
  return stringify(document, { aliasDuplicateObjects: false, compat: 'yaml-1.1', lineWidth: 120 });
}

const html = (title: string, tryItOut: boolean): string => `<!doctype html>
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
  <script src="docs/page.js" type="module"></script>
</head>
<body>
  <div id="swagger-ui" data-try-it-out="${tryItOut}"></div>
  <noscript>This page needs JavaScript. The document itself is <a href="openapi.yaml">openapi.yaml</a>.</noscript>
</body>
</html>
`;

const escapeHtml = (plain: string): string =>
  plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
