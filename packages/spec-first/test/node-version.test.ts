import { expect, test } from '@jest/globals';
import { problemWithNode } from '../src/node-version.ts';

test.each(['24.0.0', '24.15.1', '26.10.0', '100.0.0'])('Node %s is supported', (version) => {
  expect(problemWithNode(version, 'spec-first new')).toBeUndefined();
});

test.each(['23.11.1', '4.0.0', '2.4.0'])('Node %s is too old', (version) => {
  expect(
    problemWithNode(version, 'spec-first new my-api'),
  ).toBe(`spec-first needs Node.js 24 or newer, but this is ${version}. Install a newer
version from https://nodejs.org, or run it once with a version from npm:

  npx --yes --package=node@24 --package=spec-first -- spec-first new my-api`);
});

test('the command of a tool without arguments has no space at its end', () => {
  expect(problemWithNode('20.0.0', 'spec-first ')).toMatch(/ -- spec-first$/);
});
