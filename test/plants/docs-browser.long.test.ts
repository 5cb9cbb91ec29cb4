import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as forward, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import axe from 'axe-core';
import express from 'express';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { eventually } from 'test-support/eventually';
import { SECURITY_HEADERS } from '../../packages/spec-first-server/src/core/response/headers.ts';
import { openapiPage } from '../../packages/spec-first-server/src/page/page.ts';
import { servePage } from '../../packages/spec-first-server/test/serve/serve-page.ts';
import { BROWSER_MS, launchBrowser } from '../support/chromium.ts';
import { plantsIn } from './support/plant-service.ts';
import { type Running, runPlants } from './support/plants.ts';

const token = 'a-token-of-the-test';
/** A script for the page. Returns controls and cells beyond the edge of their operation or the page. */
const cutOff = `[...document.querySelectorAll('button, select, input, textarea, th, td')]
  .filter((element) => {
    const box = (element.closest('.opblock') ?? document.body).getBoundingClientRect();
    return element.checkVisibility() && element.getBoundingClientRect().right > box.right;
  })
  .map((element) => element.outerHTML)`;

/** A script for the page. Resolves when all animations have ended. */
const animationsEnded =
  'Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => {})))';

const script = (name: string): string =>
  readFileSync(join(import.meta.dirname, `../support/${name}`), 'utf8');
const faintTexts = script('faint-texts.js');
const overlaps = script('overlaps.js');

/** A script for the page. Returns all violations that axe finds. */
const violations = `${axe.source}; axe.run().then((result) => result.violations
  .flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`;

let browser: Browser;
let context: BrowserContext;
const folder = mkdtempSync(join(tmpdir(), 'plants-docs-'));
const database = join(folder, 'plants.db');
let service: Running;
let proxy: Server;
let otherService: Server;

beforeAll(async () => {
  [browser, service, otherService] = await Promise.all([
    launchBrowser(),
    runPlants({
      ACCESS_TOKENS: token,
      DATABASE_URL: `sqlite:${database}`,
      OPENAPI_FILE: join(import.meta.dirname, '../../openapi.yaml'),
    }),
    listen(otherOperations()),
  ]);
  context = await browser.newContext();
  proxy = await listen(prefixProxy(['/prefix', '/other'], Number(new URL(service.url).port)));
});

afterAll(async () => {
  await browser?.close();
  await service?.stop();
  rmSync(folder, { recursive: true });
  proxy?.close();
  otherService?.close();
});

test('stores a plant with a token, and shows the response, also behind a proxy with a prefix', async () => {
  const baseUrl = `${origin(proxy)}/prefix`;
  await visit(`${baseUrl}/docs`, async (page, events) => {
    await authorize(page);
    const answer = await createPlant(
      page,
      '{"id": 9007199254740993, "name": "Boston fern", "tag": "indoor"}',
    );
    expect(answer).toContain('200');
    expect(answer).toContain('"name": "Boston fern"');
    expect(answer).toContain('"tag": "indoor"');
    expect(await page.textContent('.request-url')).toContain(`${baseUrl}/plants`);
    const curl = await page.textContent('.curl-command pre');
    expect(curl).toContain(`'${baseUrl}/plants'`);
    expect(curl).toContain('9007199254740993');
    expect(await page.textContent('.servers')).toBe(baseUrl);
    expect(events.problems).toEqual([]);
    expect(events.requests).toContain(`${baseUrl}/plants`);
    expect(events.requests.filter((url) => !url.startsWith(`${baseUrl}/`))).toEqual([]);
    // The page of another document on the same origin does not send the token.
    await page.goto(`${origin(proxy)}/other/docs`);
    expect(await createPlant(page, '{"id": 2, "name": "Fern"}')).toContain('"error": 401');
  });
  expect(plantsIn(database).has(9007199254740993n)).toBe(true);
  expect(plantsIn(database).has(9007199254740992n)).toBe(false);
});

test('shows the 401 without a token, and keeps a token in its tab only, also after a reload', async () => {
  await visit(`${direct()}/docs`, async (page, events) => {
    const answer = await createPlant(page, '{"id": 1, "name": "Boston fern"}');
    expect(answer).toContain('"error": 401');
    expect(answer).toMatch(/www-authenticate: Bearer/i);
    expect(events.problems).toEqual([expect.stringMatching(/status of 401 .* at .*\/plants$/)]);
    await authorize(page);
    // Removes the fragment of the URL, which opens the operation.
    await page.evaluate("history.replaceState(null, '', 'docs')");
    await page.reload();
    expect(await createPlant(page, '{"id": 1, "name": "Boston fern"}')).toContain('200');
    expect(await page.evaluate('JSON.stringify({ ...localStorage })')).toBe('{}');
    await page.click('.btn.authorize');
    await page.click('.modal-ux .btn:has-text("Logout")');
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain(token);
  });
});

describe('the page of a document with `tryItOut`', () => {
  let page: Page;
  beforeAll(async () => {
    page = await context.newPage();
    page.setDefaultTimeout(BROWSER_MS);
    await page.goto(`${origin(otherService)}/docs#/care/care`);
    await page.waitForSelector('.opblock');
  });
  afterAll(() => page?.close());

  async function opened(id: string): Promise<Locator> {
    const operation = page.locator(`#operations-${id}`);
    await operation.locator('.opblock-summary-control').click();
    return operation;
  }

  test('shows parents and summaries of tags', async () => {
    const titles = await page.locator('.opblock-tag').allInnerTexts();
    expect(titles.map((title) => title.replace(/\s+/g, ' '))).toEqual([
      'plants The plants in the store',
      'care Water and light – Part of plants.',
    ]);
  });

  test('fills in a body for alternatives', async () => {
    const care = page.locator('#operations-care-care');
    expect(JSON.parse(await care.locator('textarea').inputValue())).toEqual({
      kind: 'water',
      amount: 2,
    });
  });

  test.each([
    ['alternatives', { kind: 'by-water', amount: 1 }],
    ['children', { kind: 'Feeding', grams: 1 }],
  ])('fills in the property that selects the schema, with %s', async (form, expected) => {
    const body = (await opened(`care-${form}`)).locator('textarea');
    expect(JSON.parse(await body.inputValue())).toEqual(expected);
  });

  test('shows the items of a stream as they arrive, and ends the stream when it is cleared', async () => {
    const operation = await opened('plants-watchPlants');
    await operation.locator('.execute').click();
    const answer = operation.locator('.live-responses-table tbody');
    await answer.getByText('"item 3"').waitFor();
    expect(await answer.textContent()).toContain('"item 1"');
    expect(openStreams).toBe(1);
    await operation.locator('.btn-clear').click();
    await eventually(() => openStreams === 0);
    expect(await operation.locator('.live-responses-table').count()).toBe(0);
  });
});

test('is readable and accessible on a phone and a desktop, in light and dark', async () => {
  await visit(`${origin(otherService)}/docs`, async (page) => {
    const expectReadable = async () => {
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 844 });
        await page.evaluate(animationsEnded);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        expect(await page.evaluate(cutOff)).toEqual([]);
        expect(await page.evaluate(overlaps)).toEqual([]);
      }
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.waitForSelector(
          colorScheme === 'dark' ? 'html.dark-mode' : 'html:not(.dark-mode)',
        );
        await page.evaluate(animationsEnded);
        expect(await page.evaluate(faintTexts)).toEqual([]);
      }
      expect(await page.evaluate(violations)).toEqual([]);
    };
    await openEverything(page);
    await expectReadable();
    await page.click('.btn.authorize');
    await page.waitForSelector('.modal-ux');
    await expectReadable();
  });
});

interface PageEvents {
  requests: string[];
  problems: string[];
}

async function visit(
  url: string,
  steps: (page: Page, events: PageEvents) => Promise<void>,
): Promise<void> {
  const page = await context.newPage();
  try {
    page.setDefaultTimeout(BROWSER_MS);
    const events: PageEvents = { requests: [], problems: [] };
    page.on('request', (request) => events.requests.push(request.url()));
    page.on('pageerror', (error) => events.problems.push(error.message));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) {
        events.problems.push(`${message.text()} at ${message.location().url}`);
      }
    });
    await page.goto(url);
    await page.waitForSelector('.opblock');
    await steps(page, events);
  } finally {
    await page.close();
  }
}

async function authorize(page: Page): Promise<void> {
  await page.click('.btn.authorize');
  await page.fill('.modal-ux input', token);
  await page.click('.modal-ux .btn.authorize');
  await page.click('.modal-ux .close-modal');
}

async function createPlant(page: Page, body: string): Promise<string | null> {
  const operation = page.locator('#operations-plants-createPlant');
  await operation.locator('.opblock-summary-control').click();
  await tryOut(operation);
  await operation.locator('textarea').fill(body);
  await operation.locator('.execute').click();
  return operation.locator('.live-responses-table tbody').textContent();
}

async function tryOut(operation: Locator): Promise<void> {
  await operation.locator('.try-out__btn').first().waitFor();
  if ((await operation.locator('.execute').count()) === 0)
    await operation.locator('.try-out__btn').click();
}

async function openEverything(page: Page): Promise<void> {
  await authorize(page);
  await createPlant(
    page,
    '{"id": 1, "name": "A fern with a name that is longer than a phone is wide, by far", "tag": "x"}',
  );
  const remove = page.locator('#operations-plants-deletePlant');
  await remove.locator('.opblock-summary-control').click();
  await tryOut(remove);
  await remove.locator('.execute').click();
  await remove.locator('.validation-errors').waitFor();
  await page.evaluate(
    `for (const tab of document.querySelectorAll('.opblock [data-name=model]')) tab.click();
     for (const button of document.querySelectorAll('.models .json-schema-2020-12-expand-deep-button')) button.click();`,
  );
  await page.getByText('Any 64-bit integer').last().waitFor();
}

let openStreams = 0;

/** Serves a page for a document with all methods and long texts. `POST /plants` echoes its body. */
function otherOperations(): RequestListener {
  return express()
    .use((_req, res, next) => {
      res.setHeaders(new Map(SECURITY_HEADERS));
      next();
    })
    .use(servePage(openapiPage(plantDocument, { tryItOut: true })))
    .get('/stream', (_request, response) => {
      openStreams += 1;
      response.type('text/event-stream');
      let items = 0;
      const timer = setInterval(() => {
        items += 1;
        response.write(`data: "item ${items}"\n\n`);
      }, 50);
      response.on('close', () => {
        openStreams -= 1;
        clearInterval(timer);
      });
    })
    .post('/plants', express.text({ type: 'application/json' }), (req, res) => {
      res.type('application/json').send(req.body);
    });
}

/** Forwards requests under a prefix, without the prefix, as a gateway of several services does. */
function prefixProxy(prefixes: readonly string[], port: number): RequestListener {
  return (req, res) => {
    const prefix = prefixes.find((each) => req.url?.startsWith(`${each}/`));
    if (prefix === undefined) {
      res.writeHead(404).end();
      return;
    }
    const path = req.url?.slice(prefix.length);
    req.pipe(
      forward(
        { host: '127.0.0.1', port, method: req.method, path, headers: req.headers },
        (answer) => {
          res.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(res);
        },
      ),
    );
  };
}

async function listen(listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}

/**
 * Returns an origin with a host other than localhost. Browsers exempt localhost from policies for
 * plain HTTP.
 */
const origin = (server: Server): string =>
  `http://plants.test:${(server.address() as AddressInfo).port}`;

/** Returns the URL of the service with that host. */
const direct = (): string => service.url.replace('127.0.0.1', 'plants.test');

const json = (name: string, examples = {}) => ({
  'application/json': { schema: { $ref: `#/components/schemas/${name}` }, examples },
});

const fern = { fern: { summary: 'A fern', value: { id: 1, name: 'Boston fern', tag: 'indoor' } } };

const markdown = `# Plants
What is [acknowledged](https://example.com/) with \`200\` is **on disk**.
## Again
> *The same* plant sent again ~~fails~~ changes nothing.

| sent | answer |
|---|---|
| a new \`id\` | 200 |

1. first
   - second

### Example
    a: block
#### of
##### headings
###### all six
`;

const careOf = (kind: string) => ({
  type: 'object',
  required: ['kind', 'amount'],
  properties: { kind: { const: kind }, amount: { type: 'integer', minimum: 2 } },
});

const bodyOf = (operationId: string, schema: object) => ({
  post: {
    operationId,
    tags: ['care'],
    requestBody: { content: { 'application/json': { schema } } },
    responses: {},
  },
});

const kindAnd = (property: string) => ({
  type: 'object',
  required: ['kind', property],
  properties: { kind: { type: 'string' }, [property]: { type: 'integer', minimum: 1 } },
});

const plantDocument = {
  openapi: '3.1.0',
  info: {
    title: 'OpenAPI Plant Store',
    version: '1.0.0',
    description: markdown,
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '{base_url}', variables: { base_url: { default: 'http://localhost:3000' } } }],
  security: [{ bearerAuth: [] }],
  tags: [
    { name: 'care', parent: 'plants', summary: 'Water and light' },
    { name: 'plants', description: 'The plants in the store' },
  ],
  paths: {
    '/beds/{bedId}': {
      parameters: [{ $ref: '#/components/parameters/BedId' }],
      get: {
        operationId: 'watchBed',
        tags: ['plants'],
        responses: {
          200: {
            description: 'Each plant',
            content: {
              'application/jsonl': { itemSchema: { $ref: '#/components/schemas/Plant' } },
            },
          },
        },
      },
    },
    '/plants': {
      post: {
        operationId: 'createPlant',
        tags: ['plants'],
        summary: 'Store a plant',
        description: markdown,
        requestBody: { required: true, content: json('NewPlant', fern) },
        responses: {
          200: { description: 'The plant is on disk', content: json('Plant', fern) },
          400: { description: 'The plant is rejected', content: json('Error') },
          default: {
            description: 'Any other failure',
            headers: {
              'WWW-Authenticate': { description: 'With 401', schema: { type: 'string' } },
            },
            content: json('Error'),
          },
        },
      },
      ...Object.fromEntries(
        ['get', 'put', 'patch', 'delete', 'head', 'options', 'trace'].map((method) => [
          method,
          {
            operationId: `${method}Plants`,
            tags: ['plants'],
            summary: 'Another method',
            responses: {},
          },
        ]),
      ),
    },
    '/care': {
      post: {
        operationId: 'care',
        tags: ['care'],
        requestBody: {
          content: {
            'application/json': { schema: { oneOf: [careOf('water'), careOf('light')] } },
          },
        },
        responses: {},
      },
    },
    '/stream': {
      get: {
        operationId: 'watchPlants',
        tags: ['plants'],
        responses: { 200: { description: 'Events', content: { 'text/event-stream': {} } } },
      },
    },
    '/alternatives': bodyOf('alternatives', {
      oneOf: [{ $ref: '#/components/schemas/Watering' }, { $ref: '#/components/schemas/Lighting' }],
      discriminator: {
        propertyName: 'kind',
        mapping: { 'by-water': '#/components/schemas/Watering' },
      },
    }),
    '/children': bodyOf('children', { $ref: '#/components/schemas/Feeding' }),
    '/plants/{id}': {
      delete: {
        operationId: 'deletePlant',
        tags: ['plants'],
        deprecated: true,
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } },
          { name: 'force', in: 'query', schema: { type: 'boolean' } },
          { name: 'tags', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
        ],
        responses: { 204: { description: 'The plant is gone' } },
      },
    },
  },
  components: {
    parameters: {
      BedId: { name: 'bedId', in: 'path', required: true, schema: { type: 'integer' } },
    },
    securitySchemes: {
      bearerAuth: { type: 'http', scheme: 'bearer', description: 'An access token' },
    },
    schemas: {
      Plant: {
        type: 'object',
        description: markdown,
        required: ['id', 'name'],
        properties: {
          id: {
            type: 'integer',
            format: 'int64',
            description: 'Any 64-bit integer',
            examples: [1],
          },
          name: { type: 'string', minLength: 1, examples: ['Boston fern'] },
          tag: { type: 'string', examples: ['indoor'] },
        },
      },
      NewPlant: { allOf: [{ $ref: '#/components/schemas/Plant' }, { required: ['id'] }] },
      Watering: kindAnd('amount'),
      Lighting: kindAnd('hours'),
      Treatment: {
        type: 'object',
        required: ['kind'],
        properties: { kind: { type: 'string' } },
        discriminator: { propertyName: 'kind' },
      },
      Feeding: {
        allOf: [
          { $ref: '#/components/schemas/Treatment' },
          {
            type: 'object',
            required: ['grams'],
            properties: { grams: { type: 'integer', minimum: 1 } },
          },
        ],
      },
      Error: {
        type: 'object',
        required: ['error', 'message'],
        properties: { error: { type: 'integer', format: 'int32' }, message: { type: 'string' } },
      },
    },
  },
};
