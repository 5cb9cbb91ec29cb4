import { afterEach, expect, test } from '@jest/globals';
import { type Files, withFiles } from 'test-support/files';
import { ALLOW_OUTSIDE, command, documentFile, UsageError } from '../src/command.ts';
import { call } from './call.ts';

const USAGE = 'Usage: water [--amount LITRES] [PLANT]';

const water = (failure?: number) =>
  command(
    USAGE,
    { amount: { type: 'string' }, ...ALLOW_OUTSIDE },
    1,
    async ({ amount, 'allow-outside': isOutside }, plants) => {
      if (amount === 'none') throw new UsageError('--amount must be a number');
      if (amount === 'sea') throw new Error('The can is too small');
      if (amount === 'text') throw 'no error object';
      console.log(JSON.stringify({ amount, isOutside, plants }));
      return 7;
    },
    failure,
  );

test.each<[args: string[], status: number, stdout: string, stderr: string]>([
  [[], 7, '{"plants":[]}\n', ''],
  [['fern', '--amount', '2'], 7, '{"amount":"2","plants":["fern"]}\n', ''],
  [['--allow-outside'], 7, '{"isOutside":true,"plants":[]}\n', ''],
  [['--help'], 0, `${USAGE}\n`, ''],
  [['fern', 'ficus', 'oak'], 2, '', `Unexpected argument "ficus"\n\n${USAGE}\n`],
  [['--amount', 'none'], 2, '', `--amount must be a number\n\n${USAGE}\n`],
  [['--amount', 'sea'], 1, '', 'The can is too small\n'],
  [['--amount', 'text'], 1, '', 'no error object\n'],
])('a command with the arguments %j exits with %i', async (args, status, stdout, stderr) => {
  expect(await call('.', water(), ...args)).toEqual({ status, stdout, stderr });
});

test('an unknown option prints the usage, and exits with 2', async () => {
  const { status, stdout, stderr } = await call('.', water(5), '--litres', '2');
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/Unknown option '--litres'[\s\S]*\n\nUsage: water/);
});

test('a command may have another exit code for errors', async () => {
  expect(await call('.', water(5), '--amount', 'sea')).toMatchObject({ status: 5 });
});

afterEach(() => {
  delete process.env.OPENAPI_FILE;
});

test.each<[env: Readonly<Record<string, string>>, files: Files, file: string]>([
  [{}, {}, 'openapi.yaml'],
  [{ OPENAPI_FILE: '' }, { '.env': 'OPENAPI_FILE=garden.yaml\n' }, 'garden.yaml'],
  [{ OPENAPI_FILE: 'park.yaml' }, { '.env': 'OPENAPI_FILE=garden.yaml\n' }, 'park.yaml'],
])('the variables %j with the files %j name the document %s', async (env, files, file) => {
  await withFiles(files, async (folder) => {
    const { stdout } = await call(folder, async () => {
      Object.assign(process.env, env);
      console.log(documentFile());
      return 0;
    });
    expect(stdout).toBe(`${file}\n`);
  });
});
