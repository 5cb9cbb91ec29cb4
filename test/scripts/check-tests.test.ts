import { expect, test } from '@jest/globals';
import { hasCode, testOf } from '../../scripts/check-tests.ts';

test.each([
  ['export function a() {}', true],
  ['const a = 1;', true],
  ['export class A {}', true],
  ['async function a() {}', true],
  ["export { a } from './a.ts';\nexport type { B } from './b.ts';", false],
  ["import type { B } from './b.ts';\nexport interface A {\n  readonly b: B;\n}", false],
])('a file with %j needs a test: %s', (text, isNeeded) => {
  expect(hasCode(text)).toBe(isNeeded);
});

test('the test of a source file has its path and name', () => {
  expect(testOf('packages/a/src/b/c.ts')).toBe('packages/a/test/b/c.test.ts');
});
