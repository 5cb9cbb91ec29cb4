import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { openapiPage, type PageOptions } from '../../src/page/page.ts';

const document = {
  openapi: '3.1.0',
  info: { title: 'Plants & <Friends>', version: '1.0.0' },
  servers: [{ url: 'https://elsewhere.example/v1' }],
  paths: {
    '/plants': {
      summary: 'All plants',
      servers: [{ url: 'https://paths.example' }],
      post: {
        operationId: 'createPlant',
        servers: [{ url: 'https://operations.example/up' }],
        responses: { 204: { description: 'no' } },
      },
      additionalOperations: { COPY: { servers: [], responses: {} } },
    },
    '/servers': { $ref: '#/components/pathItems/Servers', summary: 'Beside' },
  },
  components: {
    pathItems: { Servers: { get: { servers: [], responses: {} } } },
    schemas: {
      Servers: { type: 'object', properties: { servers: { maximum: 9223372036854775807n } } },
    },
  },
};

function pageOf(options?: PageOptions, served: object = document) {
  const resources = openapiPage({ ...served }, options);
  return async (path: string, ifNoneMatch?: string) => {
    const resource = await resources.get(path)?.(ifNoneMatch);
    if (resource === undefined) throw new Error(`${path} is not served`);
    return { ...resource, text: Buffer.from(resource.body ?? '').toString() };
  };
}

const jsonOf = async (options?: PageOptions) =>
  JSON.parse((await pageOf(options)('/openapi.json')).text);

describe('the document', () => {
  test.each<[options: PageOptions, url: string]>([
    [{}, '.'],
    [{ basePath: '/v1' }, './v1'],
    [{ prefix: '/ops' }, '..'],
    [{ basePath: '/v1', prefix: '/ops/plants' }, '../../v1'],
  ])('with %j has the relative server %s', async (options, url) => {
    expect((await jsonOf(options)).servers).toEqual([{ url }]);
  });

  test('is JSON at /openapi.json, and the same as YAML at /openapi.yaml', async () => {
    const read = pageOf();
    const [json, yaml] = [await read('/openapi.json'), await read('/openapi.yaml')];
    expect([json.type, yaml.type]).toEqual(['application/json', 'application/yaml']);
    expect(JSON.parse(json.text).info).toEqual(document.info);
    expect(json.text.endsWith('}\n')).toBe(true);
    expect(parse(yaml.text)).toEqual(JSON.parse(json.text));
  });

  test('has relative servers, but keeps other members with this name', async () => {
    const { paths, components } = await jsonOf();
    expect(paths['/plants']).toEqual({
      summary: 'All plants',
      servers: [{ url: '.' }],
      post: {
        operationId: 'createPlant',
        servers: [{ url: './up' }],
        responses: { 204: { description: 'no' } },
      },
      additionalOperations: { COPY: { responses: {} } },
    });
    // Path items are inlined, since Swagger UI loads each reference separately.
    expect(paths['/servers']).toEqual({ summary: 'Beside', get: { responses: {} } });
    expect(components.pathItems).toEqual({ Servers: { get: { responses: {} } } });
    expect(components.schemas.Servers.properties).toHaveProperty('servers');
  });
});

test.each([
  ['/openapi.json', 'application/json'],
  ['/openapi.yaml', 'application/yaml'],
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],

  ['/docs/favicon-32x32.png', 'image/png'],
])('%s is %s, and is sent again only after a change', async (path, type) => {
  const read = pageOf();
  const { headers, ...first } = await read(path);
  const etag = String(headers?.ETag);
  expect(first).toMatchObject({ type, body: expect.any(Buffer) });
  expect(first.text.length).toBeGreaterThan(0);
  expect(headers).toMatchObject({
    ETag: expect.stringMatching(/^"[\w-]{43}"$/),
    'Cache-Control': 'no-cache',
  });
  for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    expect(await read(path, tags)).toEqual({ status: 304, headers, text: '' });
  }
  expect((await read(path, '"other"')).body).toBe(first.body);
  const info = { title: 'Other plants', version: '1.0.0' };
  const changed = await pageOf({}, { ...document, info })(path, etag);
  expect(changed.status).toBe(/\.(?!json$|yaml$)/.test(path) ? 304 : undefined);
});

describe('the page', () => {
  test('has relative URLs of files that are served', async () => {
    const read = pageOf();
    const { text } = await read('/docs');
    const urls = Array.from(text.matchAll(/(?:href|src)="([^"]*)"/g), ([, url = '']) => url);
    expect(urls).toHaveLength(6);
    for (const url of urls) {
      expect(url).toMatch(/^\w+[./]/);
      await read(`/${url}`);
    }
  });

  test('escapes the title', async () => {
    const { text } = await pageOf()('/docs');
    expect(text).toContain('<title>Plants &amp; &lt;Friends&gt;</title>');
  });

  test('is at /docs, and /docs/ redirects to it by a relative URL', async () => {
    expect(await pageOf()('/docs/')).toEqual({
      status: 308,
      headers: { Location: '../docs' },
      text: '',
    });
  });
});
