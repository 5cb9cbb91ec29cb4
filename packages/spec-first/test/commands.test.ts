import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { runCommand } from '../src/commands.ts';
import { call } from './call.ts';

const { version } = JSON.parse(readFileSync('packages/spec-first/package.json', 'utf8'));

const NAMES = ['new', 'generate', 'stub', 'dev', 'diff'];

const USAGE = expect.stringMatching(/^Usage: spec-first COMMAND\n/);

const run = (...args: string[]) => call('.', runCommand, ...args);

test('--help lists the commands', async () => {
  const { status, stdout, stderr } = await run('--help');
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toEqual(USAGE);
  const listed = [...stdout.matchAll(/^ {2}(\w+) +(?=\w)/gm)];
  expect(listed.map(([, name]) => name)).toEqual(NAMES);
  expect(new Set(listed.map(([start]) => start.length))).toEqual(new Set([12]));
  expect(await run('-h')).toEqual({ status, stdout, stderr });
});

test('--version prints the version of the package', async () => {
  expect(await run('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
});

test.each(NAMES)('%s runs the command of that name', async (name) => {
  expect(await run(name, '--help')).toEqual({
    status: 0,
    stdout: expect.stringContaining(`Usage: spec-first ${name} `),
    stderr: '',
  });
});

test('no command prints the usage as an error', async () => {
  expect(await run()).toEqual({ status: 2, stdout: '', stderr: USAGE });
});

test.each(['wrong', 'constructor', '--dev'])(
  'rejects the unknown command "%s", and names it',
  async (name) => {
    const { status, stdout, stderr } = await run(name);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(new RegExp(`^There is no command "${name}"\\.\n\nUsage: spec-first `));
  },
);
