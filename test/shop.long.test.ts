import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { eventually } from 'test-support/eventually';
import { startPostgres } from 'test-support/postgres';
import { BROWSER_MS, launchBrowser } from './support/chromium.ts';
import { type Launched, launch, PROJECT } from './support/launch.ts';

const cwd = join(PROJECT, 'examples/shop');
const start = (flags: readonly string[] = [], variables = {}): Launched =>
  launch(
    { DEVELOPMENT_TOKEN: 'token', ...variables },
    { cwd, main: 'src/main.ts', flags: [...flags, '--no-warnings'] },
  );

let shop: Launched;
let browser: Browser;
beforeAll(async () => {
  shop = start();
  [browser] = await Promise.all([launchBrowser(), shop.url]);
});
afterAll(async () => {
  await browser?.close();
  shop?.child.kill('SIGTERM');
  if (shop !== undefined) expect(await shop.exit).toBe(0);
});

test('the page of the shop shows all operations and an example of a discriminator, and axe finds no critical violation', async () => {
  const page = await browser.newPage({ bypassCSP: true });
  page.setDefaultTimeout(BROWSER_MS);
  const errors: unknown[] = [];
  page.on('pageerror', (error) => errors.push(error));
  await page.goto(new URL('/docs', await shop.url).href);
  await page.locator('.opblock').nth(17).waitFor();
  expect(await page.locator('.opblock').count()).toBe(18);

  await page.locator('#operations-payments-payOrder .opblock-summary-control').click();
  const body = page.locator('#operations-payments-payOrder textarea');
  await page.locator('#operations-payments-payOrder .try-out__btn').click();
  expect(JSON.parse(await body.inputValue())).toMatchObject({ method: 'card' });

  await page.addScriptTag({ content: axe.source });
  const critical = await page.evaluate(async () => {
    const { violations } = await Reflect.get(globalThis, 'axe').run();
    return violations
      .filter((violation: { impact: string }) => violation.impact === 'critical')
      .map(({ id }: { id: string }) => id);
  });
  expect([critical, errors]).toEqual([[], []]);
});

test('the shop writes spans of OpenTelemetry with src/tracing.ts', async () => {
  const traced = start(['--import', './src/tracing.ts']);
  try {
    expect((await fetch(`${await traced.url}/products`)).status).toBe(200);
    await eventually(() => /name: 'GET \/v1\/products'/.test(traced.stdout()));
  } finally {
    traced.child.kill('SIGTERM');
    await traced.exit;
  }
});

test('the shop responds with 503 while PostgreSQL is down, and continues after it', async () => {
  const postgres = await startPostgres();
  const stored = start([], { DATABASE_URL: await postgres.createDatabase() });
  try {
    const products = `${await stored.url}/products`;
    expect((await fetch(products)).status).toBe(200);
    await postgres.kill();
    const { status, headers } = await fetch(products);
    expect([status, headers.get('Retry-After')]).toEqual([503, '5']);
    await postgres.start();
    expect((await fetch(products)).status).toBe(200);
  } finally {
    stored.child.kill('SIGTERM');
    await stored.exit;
    await postgres.remove();
  }
  expect(await stored.exit).toBe(0);
});
