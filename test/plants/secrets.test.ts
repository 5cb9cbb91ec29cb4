import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { exchange, request } from 'test-support/raw-http';
import { type ServiceProcess, start, TOKEN } from './support/plant-service.ts';

const HASHED = 'only-its-digest.is~configured';
const digest = (token: string): string => createHash('sha256').update(token).digest('hex');

let folder: string;
let service: ServiceProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plants-'));
  service = await start({
    DATABASE_URL: `sqlite:${join(folder, 'plants.db')}`,
    ACCESS_TOKENS: `${TOKEN},sha256:${digest(HASHED)}`,
    LOG_LEVEL: 'trace',
  });
});

afterAll(async () => {
  service.child.kill('SIGKILL');
  await service.exit;
  rmSync(folder, { recursive: true });
});

test('neither the log nor error responses contain tokens, digests or bodies, but a response may quote the query', async () => {
  const wrong = 'a-token.that-is_wrong~2';
  const text = 'what-the-client-wrote';
  const json = { 'Content-Type': 'application/json' };
  const plant = (rest = ''): string => `{"id":1,"name":"${text}"${rest}}`;
  const failures: string[] = [];
  let quoted = '';
  const send = async (bytes: string | Buffer, status: number) => {
    const { responses } = await exchange(service.port, bytes);
    expect(responses.map((response) => response.status)).toEqual([status]);
    if (status !== 200)
      failures.push(responses.map(({ headers, body }) => JSON.stringify(headers) + body).join());
  };

  for (const token of [TOKEN, HASHED]) {
    const good = { Authorization: `Bearer ${token}`, ...json };
    await send(request('POST /plants', good, plant()), 200);
    await send(request('POST /plants', good, plant(`,"tag":"${text}"`)), 200);
    await send(request('POST /plants', good, `{"id":"${text}","name":["${text}"]}`), 400);
    await send(request('POST /plants', good, `{"id":1,"name":"${text}`), 400);
    await send(request('POST /plants', good, `{"id":1,"name":"${text}\\ud800"}`), 400);
    await send(request('POST /plants', good, `"${text}"`), 400);
    // The messages of these responses quote the query. The log does not.
    for (const query of [token, `${text}=${token}`]) {
      const { responses } = await exchange(
        service.port,
        request(`POST /plants?${query}`, good, plant()),
      );
      expect(responses.map(({ status }) => status)).toEqual([400]);
      quoted += responses.map(({ body }) => body.toString()).join();
    }
    await send(request('POST /plants', { ...good, 'Content-Type': `text/${text}` }, text), 415);
    await send(request('POST /plants', { ...good, 'Content-Encoding': 'gzip' }, text), 400);
    await send(request('POST /plants', { ...good, 'Content-Encoding': text }, text), 415);
    await send(
      request('POST /plants', { ...good, Cookie: `token=${token}` }, text.repeat(10_000)),
      413,
    );
    await send(request('GET /plants', good), 405);
    await send(request('POST /plants', { ...good, Expect: token }, plant()), 417);
    await send(request('POST /plants', { ...good, 'Transfer-Encoding': token }), 400);
    await send(
      request('POST /plants', good).replace('\r\n', `\r\nAuthorization: Bearer ${token}\r\n`),
      400,
    );
  }
  for (const token of [TOKEN, HASHED, wrong, digest(TOKEN), `sha256:${digest(HASHED)}`]) {
    const isValid = token === TOKEN || token === HASHED;
    await send(request('POST /plants', { Authorization: `Basic ${token}`, ...json }, plant()), 401);
    await send(
      request('POST /plants', { Authorization: `Bearer ${token} ${token}`, ...json }, plant()),
      401,
    );
    await send(request('POST /plants', { Authorization: token, ...json }, plant()), 401);
    if (!isValid)
      await send(
        request('POST /plants', { Authorization: `Bearer ${token}`, ...json }, plant()),
        401,
      );
    await send(request(`POST /plants?access_token=${token}`, json, plant()), 401);
    await send(
      request(
        `POST /plants?access_token=${token}`,
        { Authorization: `Bearer ${TOKEN}`, ...json },
        plant(),
      ),
      400,
    );
    await send(
      request('POST /plants', { 'X-Api-Key': token, Cookie: `token=${token}`, ...json }, plant()),
      401,
    );
    await send(request(`GET /plants/${token}`), 404);
    await send(request(`GET /${token}?${token}`), 404);
    await send(request(`GET /%ff${token}`), 400);
    await send(request('POST /plants', json, JSON.stringify({ token })), 401);
    await send(`${token}\r\n\r\n`, 400);
    await send(request('GET /healthz', { 'X-Request-Id': `Bearer ${token}` }), 200);
  }

  service.child.kill('SIGTERM');
  expect(await service.exit).toBe(0);
  const log = service.output();
  expect(log.split('\n').filter((line) => line.includes('"status":401')).length).toBeGreaterThan(
    20,
  );
  for (const sent of [TOKEN, HASHED, text]) expect(quoted).toContain(sent.replaceAll('~', '~0'));
  for (const secret of [TOKEN, HASHED, wrong, digest(TOKEN), digest(HASHED), digest(wrong), text]) {
    expect(log.split('\n').filter((line) => line.includes(secret))).toEqual([]);
    expect(failures.filter((failure) => failure.includes(secret))).toEqual([]);
  }
});
