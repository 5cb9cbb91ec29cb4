import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
import { makeProject } from 'test-support/project';

const folder = makeProject({
  'api/openapi.yaml': `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
paths:
  /a: { get: { operationId: a, responses: { $ref: '../responses.yaml' } } }
`,
  'responses.yaml': "{ '204': { description: done } }\n",
  'main.mjs': `import { serve } from 'spec-first-server';
await serve({ open: { handlers: { a: () => ({ status: 204 }) } } });
`,
});
afterAll(() => rmSync(folder, { recursive: true }));

test('--check prints the notices of the document before its result', () => {
  writeFileSync(
    join(folder, 'noted.yaml'),
    `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
paths:
  /a: { get: { operationId: a, responses: {} } }
`,
  );
  const env = { ...ENVIRONMENT, OPENAPI_FILE: 'noted.yaml', ACCESS_TOKENS: 'a' };
  const { stdout } = spawnSync(process.execPath, [join(folder, 'main.mjs'), '--check'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  const [notices = '', ...others] = stdout.trimEnd().split('\n');
  expect(JSON.parse(notices).locations).toEqual([
    expect.stringContaining('operation a declares no response'),
  ]);
  expect(others).toEqual(['The configuration and noted.yaml are valid.']);
});

test('--check does not open a backend, and says so', () => {
  const text = `import { serve } from 'spec-first-server';
await serve({ open: () => { throw new Error('opened') } });
`;
  writeFileSync(join(folder, 'opened.mjs'), text);
  const { stdout } = spawnSync(process.execPath, [join(folder, 'opened.mjs'), '--check'], {
    cwd: folder,
    env: { ...ENVIRONMENT, OPENAPI_FILE: 'noted.yaml' },
    encoding: 'utf8',
  });
  expect(stdout.split('\n').slice(-3)).toEqual([
    'The configuration and noted.yaml are valid.',
    'The start also checks what `open` returns: handlers and verifiers.',
    '',
  ]);
});

test.each([
  [['--check'], 1],
  [['--check', '--allow-outside'], 0],
])('a file outside the folder of the document, with %j: the process ends with %s', (args, code) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'main.mjs'), ...args],
    {
      cwd: folder,
      env: { ...ENVIRONMENT, OPENAPI_FILE: 'api/openapi.yaml' },
      encoding: 'utf8',
    },
  );
  expect([status, stderr.includes('responses.yaml')]).toEqual([code, code === 1]);
  expect(stdout.includes('api/openapi.yaml are valid')).toBe(code === 0);
});
