import { afterEach, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { exchange, request } from 'test-support/raw-http';
import { endAll, type Launched, LOADING, launch, post } from '../support/launch.ts';

afterEach(endAll);

/** Waits for the start. Returns a function that reads the metrics as a map from series to value. */
async function scraper(service: Launched): Promise<() => Promise<Map<string, number>>> {
  const { metrics } = await service.line(({ msg }) => msg === 'listening');
  return async () => {
    const response = await fetch(String(metrics));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const lines = (await response.text())
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      lines.map((line) => [
        line.slice(0, line.lastIndexOf(' ')),
        Number(line.slice(line.lastIndexOf(' '))),
      ]),
    );
  };
}

test('METRICS_PORT serves request, duration, queue, batch, event-loop and memory metrics', async () => {
  const service = launch({ ACCESS_TOKENS: 'token', METRICS_PORT: '0' });
  const [url, scrape] = [await service.url, await scraper(service)];
  expect(await post(url, { id: 1, name: 'Fern' })).toBe(200);
  expect(await post(url, { id: 'one', name: 'Moss' })).toBe(400);
  expect(await post(url, { id: 2, name: 'Moss' })).toBe(200);
  expect(await post(url, { id: 3, name: 'Palm' }, 'wrong')).toBe(401);
  expect((await fetch(`${url}/metrics`)).status).toBe(404);
  for (const bytes of ['no HTTP\r\n\r\n', request('GET /', { 'X-Large': 'a'.repeat(20_000) })]) {
    await exchange(Number(new URL(url).port), bytes);
  }

  const metrics = await scrape();
  expect(Object.fromEntries(metrics)).toMatchObject({
    'http_requests_total{operation="createPlant",status="200"}': 2,
    'http_requests_total{operation="createPlant",status="400"}': 1,
    'http_requests_total{operation="createPlant",status="401"}': 1,
    'http_requests_total{operation="(unknown)",status="404"}': 1,
    'http_requests_total{operation="(rejected)",status="400"}': 1,
    'http_requests_total{operation="(rejected)",status="431"}': 1,
    'http_request_duration_seconds_count{operation="createPlant"}': 4,
    'http_request_duration_seconds_bucket{le="+Inf",operation="createPlant"}': 4,
    store_waiting: 0,
    store_batch_size_count: 2,
    store_batch_size_sum: 2,
    store_commit_duration_seconds_count: 2,
    log_lines_lost_total: 0,
  });
  expect([...metrics.keys()].find((series) => series.startsWith('service_build_info'))).toMatch(
    /\{service="openapi-plant-store",version="1\.0\.0",runtime="[\d.]+",node="[\d.]+"\}$/,
  );
  expect(metrics.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
  expect(metrics.get('process_resident_memory_bytes')).toBeGreaterThan(20_000_000);
  // Paths of clients create no series.
  expect([...metrics.keys()].filter((series) => series.includes('/'))).toEqual([]);

  const { metrics: address } = service.lines()[0] ?? {};
  expect((await fetch(new URL('/', String(address)))).status).toBe(404);
  expect((await fetch(`${address}?x=1`)).status).toBe(200);
  expect((await fetch(String(address), { method: 'POST' })).status).toBe(405);
  service.child.kill('SIGTERM');
  expect(await service.exit).toBe(0);
});

test('METRICS_HOST is a separate address for metrics and health', async () => {
  const env = { METRICS_PORT: '0', METRICS_HOST: '127.0.0.2', DRAIN_SECONDS: '60' };
  const service = launch(env, { flags: LOADING });
  await service.url;
  await eventually(() => expect(service.stderr()).toBe('loaded\n'));
  const { metrics } = service.lines()[0] ?? {};
  expect(metrics).toMatch(/^http:\/\/127\.0\.0\.2:\d+\/metrics$/);
  const status = async (path: string) => (await fetch(new URL(path, String(metrics)))).status;
  expect(await status('/healthz')).toBe(200);
  await eventually(async () => (await status('/readyz')) === 200);
  service.child.kill('SIGTERM');
  await eventually(async () => (await status('/readyz')) === 503);
  expect([await status('/healthz'), await status('/metrics')]).toEqual([200, 200]);
});
