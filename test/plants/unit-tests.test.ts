import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';

const document = join(import.meta.dirname, '../../openapi.yaml');
test('a test client leaves no connection open that keeps the process alive', () => {
  const program = `
    import { setTimeout as delay } from 'node:timers/promises';
    import { testClient } from 'spec-first/testing';
    import { createApp } from 'spec-first-server';
    const document = ${JSON.stringify(document)};
    const createPlant = ({ body: { name } }) => ({ status: 200, body: { name } });
    const app = createApp({ document, handlers: { createPlant }, accessTokens: ['token'] });
    const api = await testClient(app, { document, headers: { Authorization: 'Bearer token' } });
    const { status } = await api.createPlant({ body: { id: 1, name: 'Fern' } });
    const connections = () => process.getActiveResourcesInfo().filter((name) => /^TCP/.test(name));
    // Node keeps an idle connection for 4 s.
    for (let round = 0; round < 150 && connections().length > 0; round += 1) await delay(10);
    console.log(JSON.stringify({ status, connections: connections() }));
  `;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { cwd: import.meta.dirname, env: ENVIRONMENT, encoding: 'utf8' },
  );
  expect({ stdout, stderr }).toEqual({ stdout: '{"status":200,"connections":[]}\n', stderr: '' });
});
