import { describe, expect, test } from '@jest/globals';
import express from 'express';
import request from 'supertest';
import { parse } from 'yaml';
import { openapiPage } from '../../../src/serve/page/page.ts';
import { servePage } from '../serve-page.ts';

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
        servers: [{ url: 'https://operations.example' }],
        responses: { 204: { description: 'no' } },
      },
    },
    '/servers': { $ref: '#/components/pathItems/Servers' },
  },
  components: {
    pathItems: { Servers: { get: { servers: [], responses: {} } } },
    schemas: {
      Servers: { type: 'object', properties: { servers: { maximum: 9223372036854775807n } } },
    },
  },
};

const service = (basePath = '', served: object = document) =>
  express()
    .use(servePage(openapiPage({ ...served }, { basePath })))
    .use((_req, res) => {
      res.status(418).json({ left: 'to the next handler' });
    });

describe('the document', () => {
  test('is JSON at /openapi.json, with where it is served as its one server', async () => {
    const response = await request(service()).get('/openapi.json').expect(200);
    expect(response.headers['content-type']).toBe('application/json');
    expect(response.body.servers).toEqual([{ url: '.' }]);
    expect(response.body.info).toEqual(document.info);
    expect(new URL('.', 'https://host/prefix/openapi.json').href).toBe('https://host/prefix/');
  });

  test('is the same as YAML at /openapi.yaml', async () => {
    const json = await request(service('/v1')).get('/openapi.json');
    const yaml = await request(service('/v1'))
      .get('/openapi.yaml')
      .responseType('blob')
      .expect(200);
    expect(yaml.headers['content-type']).toBe('application/yaml');
    expect(parse(String(yaml.body))).toEqual(json.body);
  });

  test('quotes in YAML what readers of YAML 1.1 would take for a boolean', async () => {
    const yaml = await request(service()).get('/openapi.yaml').responseType('blob');
    expect(String(yaml.body)).toContain('description: "no"');
  });

  test('keeps the base path of its operations', async () => {
    const response = await request(service('/v1')).get('/openapi.json');
    expect(response.body.servers).toEqual([{ url: './v1' }]);
  });

  test('names no other server for single paths and operations, and keeps all else that is called servers', async () => {
    const { body } = await request(service()).get('/openapi.json');
    expect(body.paths['/plants']).toEqual({
      summary: 'All plants',
      post: { operationId: 'createPlant', responses: { 204: { description: 'no' } } },
    });
    // Swagger UI loads each referenced path item on its own.
    expect(body.paths['/servers']).toEqual({ get: { responses: {} } });
    expect(body.components.pathItems).toEqual({ Servers: { get: { responses: {} } } });
    expect(body.components.schemas.Servers.properties).toHaveProperty('servers');
  });

  test.each(['/openapi.json', '/openapi.yaml'])(
    'keeps 64-bit integers exact at %s',
    async (path) => {
      const response = await request(service()).get(path).responseType('blob');
      expect(String(response.body)).toMatch(/maximum"?: ?9223372036854775807\b/);
    },
  );

  test.each(['/openapi.json', '/openapi.yaml', '/docs'])(
    '%s is sent again only when it has changed',
    async (path) => {
      const app = service();
      const first = await request(app).get(path).expect(200);
      expect(first.headers.etag).toMatch(/^"[\w-]{43}"$/);
      expect(first.headers['cache-control']).toBe('no-cache');
      const again = await request(app)
        .get(path)
        .set('If-None-Match', String(first.headers.etag))
        .expect(304);
      expect(again.headers.etag).toBe(first.headers.etag);
      await request(app).get(path).set('If-None-Match', '"another"').expect(200);
      const changed = service('', {
        ...document,
        info: { title: 'Other plants', version: '1.0.0' },
      });
      await request(changed).get(path).set('If-None-Match', String(first.headers.etag)).expect(200);
    },
  );

  test.each(['/openapi.json', '/openapi.yaml', '/docs'])(
    '%s answers HEAD as GET, without the body',
    async (path) => {
      const app = service();
      const get = await request(app).get(path);
      const head = await request(app).head(path).expect(200);
      expect(head.headers).toMatchObject({
        etag: get.headers.etag,
        'content-type': get.headers['content-type'],
        'content-length': get.headers['content-length'],
      });
    },
  );
});

describe('the page', () => {
  test('has a policy that allows its own files and nothing else', async () => {
    const { headers } = await request(service())
      .get('/docs')
      .expect(200)
      .expect('Content-Type', /^text\/html/);
    expect(String(headers['content-security-policy']).split('; ').toSorted()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self' data: blob:",
      "media-src 'self'",
      "script-src 'self'",
      "style-src 'self'",
    ]);
  });

  test('names its files by relative URLs that are all served', async () => {
    const app = service();
    const { text } = await request(app).get('/docs');
    const urls = Array.from(text.matchAll(/(?:href|src)="([^"]*)"/g), ([, url = '']) => url);
    expect(urls).toContain('docs/swagger-ui-bundle.js');
    for (const url of urls) {
      expect(url).toMatch(/^\w/);
      await request(app).get(`/${url}`).expect(200);
    }
  });

  test.each([
    ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
    ['page.js', 'text/javascript; charset=utf-8'],
    ['swagger-ui.css', 'text/css; charset=utf-8'],
    ['page.css', 'text/css; charset=utf-8'],
    ['swagger-ui.css.map', 'application/json; charset=utf-8'],
    ['favicon-32x32.png', 'image/png'],
  ])('serves %s as %s and revalidates it', async (name, type) => {
    const app = service();
    const first = await request(app).get(`/docs/${name}`).expect(200).expect('Content-Type', type);
    expect(first.headers['cache-control']).toBe('no-cache');
    await request(app)
      .get(`/docs/${name}`)
      .set('If-None-Match', String(first.headers.etag))
      .expect(304);
  });

  test('escapes the title', async () => {
    const { text } = await request(service()).get('/docs');
    expect(text).toContain('<title>Plants &amp; &lt;Friends&gt;</title>');
  });

  test('sends /docs/ to /docs by a relative URL', async () => {
    const response = await request(service())
      .get('/docs/')
      .expect(308)
      .expect('Location', '../docs');
    expect(response.text).toBe('');
  });
});

test.each([
  ['post', '/docs'],
  ['delete', '/openapi.json'],
  ['options', '/openapi.yaml'],
  ['post', '/docs/page.js'],
  ['get', '/DOCS'],
  ['get', '/openapi.json/'],
  ['get', '/docs/index.html'],
  ['get', '/docs/package.json'],
  ['get', '/docs/..%2f..%2fpackage.json'],
  ['get', '/docs/%zz'],
] as const)('leaves %s %s to the next handler', async (method, path) => {
  await request(service())[method](path).expect(418);
});
