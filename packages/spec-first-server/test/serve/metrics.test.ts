import { expect, test } from '@jest/globals';
import { createMetrics } from '../../src/serve/metrics.ts';

const metrics = createMetrics(() => 0);

async function linesOf(prefix: string): Promise<string[]> {
  const { body } = await metrics.read();
  return body.split('\n').filter((line) => line.startsWith(prefix));
}

test('the metrics have the text format of Prometheus', async () => {
  const { type, body } = await metrics.read();
  expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(body).toContain('# HELP http_requests_total Requests answered, by operationId and status');
});

test('requests are counted by operation and status, and their duration by operation', async () => {
  const observe = metrics.observer(new Set(['getPlant']));
  observe('addPlant', 200, 0.004);
  observe('addPlant', 499, 2);
  observe('getPlant', 200, 30);
  metrics.onRejected(431);
  expect(await linesOf('http_requests_total')).toEqual([
    'http_requests_total{operation="addPlant",status="200"} 1',
    'http_requests_total{operation="addPlant",status="499"} 1',
    'http_requests_total{operation="getPlant",status="200"} 1',
    'http_requests_total{operation="(rejected)",status="431"} 1',
  ]);
  expect(await linesOf('http_deprecated_requests_total')).toEqual([
    'http_deprecated_requests_total{operation="getPlant"} 1',
  ]);
  const durations = await linesOf('http_request_duration_seconds');
  expect(durations).toEqual(
    expect.arrayContaining([
      'http_request_duration_seconds_bucket{le="0.0025",operation="addPlant"} 0',
      'http_request_duration_seconds_bucket{le="0.005",operation="addPlant"} 1',
      'http_request_duration_seconds_bucket{le="2.5",operation="addPlant"} 2',
      'http_request_duration_seconds_sum{operation="addPlant"} 2.004',
      'http_request_duration_seconds_count{operation="addPlant"} 2',
      'http_request_duration_seconds_bucket{le="10",operation="getPlant"} 0',
      'http_request_duration_seconds_bucket{le="+Inf",operation="getPlant"} 1',
    ]),
  );
  const limits = durations.flatMap(
    (line) => /le="([^"]+)",operation="getPlant"/.exec(line)?.[1] ?? [],
  );
  const milliseconds = ['0.001', '0.0025', '0.005', '0.01', '0.025', '0.05', '0.1', '0.25', '0.5'];
  expect(limits).toEqual([...milliseconds, '1', '2.5', '5', '10', '+Inf']);
});

test('a service without a store has no metrics of one', async () => {
  expect(await linesOf('store_')).toEqual([]);
  expect(await linesOf('# HELP store_')).toEqual([]);
});

test('batches are counted in powers of two', async () => {
  metrics.watch(() => ({}));
  const lines = await linesOf('store_batch_size_bucket');
  const limits = lines.map((line) => /le="([^"]+)"/.exec(line)?.[1]);
  expect(limits.join()).toBe('1,2,4,8,16,32,64,128,256,512,+Inf');
});

test('commits, connections and outages of the store are counted', async () => {
  metrics.store.onBatch(3, 0.02);
  metrics.store.onBatch(600, 0.02);
  metrics.store.onConnect(0.5);
  metrics.store.onUnavailable('ECONNREFUSED');
  expect(await linesOf('store_')).toEqual(
    expect.arrayContaining([
      'store_batch_size_bucket{le="2"} 0',
      'store_batch_size_bucket{le="4"} 1',
      'store_batch_size_bucket{le="512"} 1',
      'store_batch_size_sum 603',
      'store_batch_size_count 2',
      'store_commit_duration_seconds_sum 0.04',
      'store_connect_duration_seconds_bucket{le="0.25"} 0',
      'store_connect_duration_seconds_bucket{le="0.5"} 1',
      'store_unavailable_total{code="ECONNREFUSED"} 1',
    ]),
  );
});

test('the current values of the store are read for each scrape', async () => {
  let waiting = 1;
  metrics.watch(() => ({ waiting_calls: waiting }));
  expect(await linesOf('store_waiting_calls')).toEqual(['store_waiting_calls 1']);
  waiting = 5;
  expect(await linesOf('store_waiting_calls')).toEqual(['store_waiting_calls 5']);
  expect(await linesOf('# HELP store_waiting_calls')).toEqual([
    '# HELP store_waiting_calls Current value of the store: waiting calls',
  ]);
});

test('the process has metrics of Node, of its versions and of its log', async () => {
  expect(await linesOf('service_build_info')).toEqual([
    expect.stringMatching(
      /^service_build_info\{service="[\w-]+",version="[\d.]+",runtime="[\d.]+",node="[\d.]+"\} 1$/,
    ),
  ]);
  expect(await linesOf('log_lines_lost_total')).toEqual(['log_lines_lost_total 0']);
  expect(await linesOf('log_lines_lost_total')).toEqual(['log_lines_lost_total 0']);
  expect(await linesOf('nodejs_eventloop_lag_p99_seconds')).toHaveLength(1);
  // Gauges with the names of counters are left out.
  expect(await linesOf('nodejs_active_handles')).not.toContainEqual(
    expect.stringMatching(/_total/),
  );
  expect(await linesOf('nodejs_active_requests_total')).toEqual([]);
  expect(await linesOf('nodejs_active_resources_total')).toEqual([]);
});
