import { expect, test } from '@jest/globals';
import { type Files, withFiles } from 'test-support/files';
import { checkTypes } from '../../src/dev/compiler.ts';
import { call } from '../call.ts';

const projectWith = (script: string, files: Files = { 'tsconfig.json': '{}' }): Files => ({
  'node_modules/typescript/package.json': '{ "version": "1.0.0" }',
  'node_modules/typescript/bin/tsc': script,
  ...files,
});

async function check(files: Files, signal = new AbortController().signal) {
  let result: string | undefined;
  await withFiles(files, (folder) =>
    call(folder, async () => {
      result = await checkTypes(signal);
      return 0;
    }),
  );
  return result;
}

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`);
const printing = (count: number) =>
  `console.log(${JSON.stringify(lines(count).join('\r\n'))}); process.exitCode = 2;`;

test.each<[title: string, script: string, result: string]>([
  ['that prints nothing', '', 'The code compiles.'],
  ['that prints 20 lines', printing(20), ['The code does not compile:', ...lines(20)].join('\n')],
  [
    'that prints 21 lines',
    printing(21),
    [
      'The code does not compile:',
      ...lines(20),
      '… (lines left out: 1). "npx tsc" shows all.',
    ].join('\n'),
  ],
  [
    'that prints to standard output and standard error',
    'console.log("out"); console.error("err"); process.exitCode = 1;',
    'The code does not compile:\nout\nerr',
  ],
  [
    'that prints its arguments',
    'console.log(process.argv.slice(2).join(" ")); process.exitCode = 1;',
    'The code does not compile:\n--noEmit --pretty false',
  ],
])('returns the result of a compiler %s', async (_, script, result) => {
  expect(await check(projectWith(script))).toBe(result);
});

test('returns nothing after an abort', async () => {
  const abort = new AbortController();
  const result = check(projectWith('setInterval(() => 0, 1e6);'), abort.signal);
  setImmediate(() => abort.abort());
  expect(await result).toBeUndefined();
});
