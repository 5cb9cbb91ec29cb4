import { expect, test } from '@jest/globals';
import { createMetrics } from '../../src/serve/metrics.ts';

const metrics = createMetrics(() => 0);

async function linesOf(prefix: string): Promise<string[]> {
  const { body } = await metrics.read();
  return body.split('\n').filter((line) => line.startsWith(prefix));
}

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
