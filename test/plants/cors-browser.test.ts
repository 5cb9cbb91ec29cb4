import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { BROWSER_MS, launchBrowser } from '../support/chromium.ts';
import { type Running, runPlants } from './support/plants.ts';

/** A server of pages with other origins. */
let pages: Server;
let browser: Browser;
/** A service with one allowed origin. */
let restricted: Running;
/** A service that allows all origins. */
let open: Running;

beforeAll(async () => {
  pages = createServer((_request, response) =>
    response.setHeader('Content-Type', 'text/html').end('<!doctype html>'),
  );
  await new Promise<void>((listening) => pages.listen(0, '127.0.0.1', listening));
  [browser, restricted, open] = await Promise.all([
    launchBrowser(),
    runPlants({ CORS_ORIGINS: origin('app.test') }),
    runPlants({ CORS_ORIGINS: '*' }),
  ]);
});

afterAll(async () => {
  await browser?.close();
  await Promise.all([restricted?.stop(), open?.stop()]);
  pages?.close();
});

const origin = (host: string): string => `http://${host}:${(pages.address() as AddressInfo).port}`;

/** Sends a plant from a page. @param options additional options of fetch */
async function send(host: string, { url, token }: Running, options: string): Promise<unknown> {
  const page = await browser.newPage();
  try {
    page.setDefaultTimeout(BROWSER_MS);
    await page.goto(origin(host));
    return await page.evaluate(`fetch('${url.replace('127.0.0.1', 'plants.test')}/plants', {
      method: 'POST',
      headers: { Authorization: 'Bearer ${token}', 'Content-Type': 'application/json' },
      body: '{"id": 1, "name": "Fern"}',
      ${options}
    }).then(
      async (answer) => ({ status: answer.status, body: await answer.json(), id: answer.headers.has('x-request-id') }),
      (error) => error.name,
    )`);
  } finally {
    await page.close();
  }
}

const STORED = { status: 200, body: { name: 'Fern' }, id: true };

test('a page of an allowed origin stores a plant, also with credentials', async () => {
  expect(await send('app.test', restricted, '')).toEqual(STORED);
  expect(await send('app.test', restricted, "credentials: 'include'")).toEqual(STORED);
});

test('a page of another origin cannot call the service', async () => {
  expect(await send('evil.test', restricted, '')).toBe('TypeError');
});

test('with * every page can call, but not with credentials', async () => {
  expect(await send('any.test', open, '')).toEqual(STORED);
  expect(await send('any.test', open, "credentials: 'include'")).toBe('TypeError');
});
