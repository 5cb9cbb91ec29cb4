import { expect, test } from '@jest/globals';
import { run } from 'test-support/project';

/** Flags that simulate Node 20: the other modules of the packages cannot be loaded. */
const OLDER = [
  '--import',
  `data:text/javascript,
import { registerHooks } from 'node:module';
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.5' } });
registerHooks({
  resolve(specifier, context, next) {
    if (/main|start|node-version|^node:(path|url)$/.test(specifier)) return next(specifier, context);
    throw new SyntaxError('does not provide an export named ' + specifier);
  },
});`,
];

test.each([
  'create-spec-first/src/main.ts',
  'spec-first/src/main.ts',
  'spec-first-server/src/start.js',
])('%s on an older Node prints the required version and a command to run it', async (program) => {
  expect(await run('.', [...OLDER, `packages/${program}`])).toEqual({
    code: 1,
    output: `Node.js 24 or newer is required, but this is 20.19.5.
Use a script of the project, such as "npm start", install a newer version from https://nodejs.org,
or run the command with one from npm:

  npx --yes --package=node@24 -c 'COMMAND'
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
