import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { exchange, request } from 'test-support/raw-http';
import { start, TOKEN } from './support/plant-service.ts';

const MIB = 1024 * 1024;
const PLANT = '{"id":1,"name":"a"}';
const GZIPPED = gzipSync(PLANT).toString('latin1');
const JSON_BODY = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
const GOOD = request('POST /plants', JSON_BODY, PLANT);

const post = (headers: Record<string, string>, body = PLANT, path = '/plants'): string =>
  request(`POST ${path}`, { ...JSON_BODY, ...headers }, body);

/** Requests with a text that each of them has alone. */
const KINDS: readonly ((unique: string) => string)[] = [
  (unique) => post({ 'Content-Type': `application/json; x=${unique}` }),
  (unique) => post({ 'Content-Type': `application/${unique}` }),
  (unique) => post({ 'Content-Type': `${unique}/json; charset=${unique}` }),
  (unique) => post({ 'Content-Encoding': unique }),
  (unique) => post({}, PLANT, `/plants/${unique}`),
  (unique) => post({}, PLANT, `/plants?${unique}=1`),
  (unique) => post({ [unique]: unique, Cookie: `${unique}=1` }),
  (unique) => post({ Authorization: `Bearer ${unique}` }),
  (unique) => post({ Authorization: `${unique} ${unique}` }),
  (unique) => post({}, `{"id":1,"name":"a","${unique}":1}`),
  (unique) => post({}, `{"id":"${unique}","${unique}":1}`),
  (unique) => post({ Host: `${unique}.example`, 'X-Request-Id': unique }),
  (unique) => post({ Accept: `${unique}/*`, Prefer: unique }),
  () =>
    post({ 'Content-Encoding': 'gzip', 'Content-Length': String(GZIPPED.length) }, '') + GZIPPED,
  (unique) => request(`GET /${unique}`),
  (unique) => request(`GET http://${unique}/plants`),
  (unique) => request('PROPFIND /plants', { 'X-A': unique }),
];

test('a flood of random requests does not increase memory', async () => {
  const service = await start({ DATABASE_URL: 'sqlite::memory:' });
  let count = 0;
  const flood = async (rounds: number) => {
    for (let round = 0; round < rounds; round += 1) {
      const requests = KINDS.flatMap((kind) =>
        Array.from({ length: 3 }, () => kind(`u${(++count).toString(36)}`)),
      );
      const exchanged = await Promise.all([
        exchange(service.port, requests.join(''), { responses: requests.length }),
        exchange(service.port, `${count} HTTP/1.1\r\n\r\n`),
        exchange(service.port, GOOD.slice(0, count % GOOD.length), { end: true }),
        exchange(service.port, `CONNECT u${count}:1 HTTP/1.1\r\nHost: a\r\n\r\n`),
      ]);
      expect(exchanged[0]?.responses.length).toBe(requests.length);
    }
  };
  try {
    // A leak grows with each phase of 3,060 requests. Compiled code and pools grow only at first.
    let before = Number.POSITIVE_INFINITY;
    let growth = Number.POSITIVE_INFINITY;
    for (let phase = 0; phase < 6 && growth > 0.25 * MIB; phase += 1) {
      await flood(60);
      await delay(700);
      const now = await service.memory();
      growth = phase === 0 ? growth : Math.max(0, now - before);
      before = now;
    }
    expect(growth).toBeLessThanOrEqual(0.25 * MIB);
  } finally {
    service.child.kill('SIGKILL');
    await service.exit;
  }
}, 600_000);
