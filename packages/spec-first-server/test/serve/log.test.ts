import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { makeProject } from 'test-support/project';
import { versions, versionText } from '../../src/serve/log.ts';

const LOG = join(import.meta.dirname, '../../src/serve/log.ts');
const folder = makeProject({
  'package.json': '{ "name": "shop", "version": "2.1.0", "type": "module" }',
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(code: string) {
  const script = `import * as log from ${JSON.stringify(LOG)};\n${code}`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { cwd: folder, encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

test('the versions are those of the project, of this package and of Node', () => {
  const { stdout } = run('console.log(JSON.stringify([log.versions, log.versionText]))');
  const { runtime, node } = versions;
  expect(JSON.parse(stdout)).toEqual([
    { service: 'shop', version: '2.1.0', runtime, node },
    `shop 2.1.0 (spec-first-server ${runtime}, Node ${node})`,
  ]);
  expect([runtime, node]).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+/), process.versions.node]);
  expect(versionText).toContain(`(spec-first-server ${runtime}, `);
});

describe('the log', () => {
  test('writes a JSON line for each event of its level or above, and flushes at the end', () => {
    const { status, stdout, stderr } = run(`
      const { log: out } = await log.createLog('info');
      out.debug('not logged');
      out.info({ requestId: 'r1' }, 'responded');
      out.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed');
      await log.endProcess(1, out);
    `);
    expect([status, stderr]).toEqual([1, '']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        level: 30,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        service: 'shop',
        version: '2.1.0',
        pid: expect.any(Number),
        requestId: 'r1',
        msg: 'responded',
      },
      expect.objectContaining({
        level: 50,
        err: expect.objectContaining({ type: 'Error', message: expect.stringContaining('outer') }),
        msg: 'failed',
      }),
    ]);
  });
});

test('each warning about lost lines has the number since the previous one', () => {
  const script = `
    import * as log from ${JSON.stringify(LOG)};
    const { log: out } = await log.createLog('info');
    const flush = () => new Promise((resolve) => out.flush(resolve));
    for (let burst = 0; burst < 2; burst += 1) {
      // More than the buffer holds: no line is written before the next flush.
      for (let line = 0; line < 20; line += 1) out.info('x'.repeat(1024 ** 2));
      await flush();
      await flush();
    }
    await log.endProcess(0, out);
  `;
  const path = join(folder, 'log');
  const file = openSync(path, 'w');
  const args = ['--input-type=module', '--eval', script];
  spawnSync(process.execPath, args, { cwd: folder, stdio: ['ignore', file, 'inherit'] });
  closeSync(file);
  const lines = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const lost = lines.filter(({ level }) => level === 40).map((line) => Number(line.lines));
  expect(lost).toHaveLength(2);
  const written = lines.filter(({ level }) => level === 30).length;
  expect(written + lost.reduce((sum, count) => sum + count, 0)).toBe(40);
});

test('an error at the start is one line on standard error', () => {
  const { stdout, stderr } = run("log.logStartError('PORT is wrong'); process.exit();");
  expect(stdout).toBe('');
  expect(JSON.parse(stderr)).toMatchObject({
    level: 60,
    service: 'shop',
    reason: 'PORT is wrong',
    msg: 'the service cannot start',
  });
});
