import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  asArray,
  asObject,
  basePathsOf,
  isObject,
  type Json,
  mapMembers,
  resolveRef,
  stringifyJson,
} from 'openapi-document';
import type { Endpoint } from '../core/call.ts';

export interface PageOptions {
  /** The path before the paths of operations, such as `/v1`. By default empty. */
  readonly basePath?: string;
  /** The path before `/docs`, such as `/ops`. By default empty. */
  readonly prefix?: string;
  /** True if operations can be called without a click on "Try it out". By default false. */
  readonly tryItOut?: boolean;
}

const require = createRequire(import.meta.url);

const FILES = {
  'page.css': 'text/css; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui.css.map': 'application/json; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** Called on the first request, not at the start: a bundle can lack Swagger UI. */
const fileOf = (name: string): string =>
  require.resolve(`${name.startsWith('page.') ? './browser' : 'swagger-ui-dist'}/${name}`);

/** Swagger UI sets styles by script; its icons are `data:`, images of responses are `blob:`. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
  "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'";

/**
 * Returns the document at `/openapi.json` and `/openapi.yaml`, and Swagger UI at `/docs`. The URL
 * of the server and the links of the page are relative, for proxies that add a prefix.
 */
export function openapiPage(
  document: Json,
  { basePath = '', prefix = '', tryItOut = false }: PageOptions = {},
): ReadonlyMap<string, Endpoint['read']> {
  const pathToRoot = prefix.replace(/\/[^/]+/g, '../').replace(/\/$/, '') || '.';
  const served = () => asServed(document, pathToRoot, basePath);
  const title = String(asObject(document.info).title);
  const pageHeaders = { 'Content-Security-Policy': contentSecurityPolicy };
  const resources = new Map<string, Endpoint['read']>([
    ['/openapi.json', cached('application/json', () => `${stringifyJson(served())}\n`)],
    ['/openapi.yaml', cached('application/yaml', () => printYaml(served()))],
    ['/docs', cached('text/html; charset=utf-8', () => html(title, tryItOut), pageHeaders)],
    ['/docs/', async () => ({ status: 308, headers: { Location: '../docs' } })],
  ]);
  for (const [name, type] of Object.entries(FILES)) {
    resources.set(
      `/docs/${name}`,
      cached(type, () => readFileSync(fileOf(name))),
    );
  }
  return resources;
}

function cached(
  type: string,
  createBody: () => string | Buffer | Promise<string>,
  extraHeaders: Readonly<Record<string, string>> = {},
): Endpoint['read'] {
  let resource: { readonly body: Buffer; readonly etag: string } | undefined;
  return async (ifNoneMatch) => {
    if (resource === undefined) {
      const body = Buffer.from(await createBody());
      resource = { body, etag: `"${hash('sha256', body, 'base64url')}"` };
    }
    const { body, etag } = resource;
    const headers = { ...extraHeaders, ETag: etag, 'Cache-Control': 'no-cache' };
    const tags = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
    return tags.includes(etag) || tags.includes('*')
      ? { status: 304, headers }
      : { type, headers, body };
  };
}

/**
 * Returns the document with one server, for all operations. The URL of the server is relative to
 * that of the document (OpenAPI 3.1 §4.8.5). Referenced path items are inlined, since Swagger UI
 * loads each reference separately.
 */
function asServed(document: Json, pathToRoot: string, basePath: string): Json {
  const served = (item: unknown) => servedItem(item, pathToRoot);
  return {
    ...document,
    servers: [{ url: pathToRoot + basePath }],
    paths: mapMembers(asObject(document.paths), (item) => {
      const { $ref, ...siblings } = asObject(item);
      return served({ ...resolveRef(document, { $ref }), ...siblings });
    }),
    components: mapMembers(document.components, (member, name) =>
      name === 'pathItems' ? mapMembers(member, served) : member,
    ),
  };
}

/** Returns a path item with relative servers. @param pathToRoot the path of the service. */
function servedItem(item: unknown, pathToRoot: string): unknown {
  const withServers = (value: unknown): unknown => {
    if (!isObject(value)) return value;
    const { servers, ...members } = value;
    if (asArray(servers).length === 0) return members;
    return { ...members, servers: [{ url: pathToRoot + basePathsOf(servers)[0] }] };
  };
  return mapMembers(withServers(item), (member, name) =>
    name === 'additionalOperations' ? mapMembers(member, withServers) : withServers(member),
  );
}

/** Quotes strings such as `no`, which YAML 1.1 would read as another type. */
async function printYaml(document: Json): Promise<string> {
  const { stringify } = await import('yaml');
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
  <noscript>
    This page needs JavaScript. The document itself is <a href="openapi.yaml">openapi.yaml</a>.
  </noscript>
</body>
</html>
`;

const escapeHtml = (plain: string): string =>
  plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
