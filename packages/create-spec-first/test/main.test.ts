import { expect, test } from '@jest/globals';
import { run } from 'test-support/project';

/** Flags that simulate Node 20: only main.ts and node-version.ts of the project can be loaded. */
const OLDER = [
  '--import',
  `data:text/javascript,
import { registerHooks } from 'node:module';
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.5' } });
registerHooks({
  resolve(specifier, context, next) {
    if (/main|node-version/.test(specifier)) return next(specifier, context);
    throw new SyntaxError('does not provide an export named ' + specifier);
  },
});`,
];

test.each([
  ['create-spec-first', 'my-api'],
  ['spec-first', 'generate'],
])('%s on an older Node prints the required version and a command to run it', async (name, arg) => {
  const main = `packages/${name}/src/main.ts`;
  expect(await run('.', [...OLDER, main, arg])).toEqual({
    code: 1,
    output: `${name} needs Node.js 24 or newer, but this is 20.19.5. Install a newer
version from https://nodejs.org, or run it once with a version from npm:

  npx --yes --package=node@24 --package=${name} -- ${name} ${arg}
`,
  });
});

test('create-spec-first runs spec-first new', async () => {
  const { code, output } = await run('.', ['packages/create-spec-first/src/main.ts', '--help']);
  expect({ code, output }).toEqual({
    code: 0,
    output: expect.stringContaining('Usage: spec-first new'),
  });
});
