import { expect, test } from '@jest/globals';
import { pageAddress } from '../src/page-address.ts';

test('the address of a page without a repository is its path', () => {
  expect(pageAddress('docs/a.md', { version: '1.0.0' })).toBe('docs/a.md');
});

test.each([
  ['git+https://git.test/a.git/tools.git', 'https://git.test/a.git/tools/blob/main/docs/a.md'],
  ['https://git.test/tools.git', 'https://git.test/tools/blob/main/docs/a.md'],
])('the address of a page in the repository %s is %s', (url, address) => {
  expect(pageAddress('docs/a.md', { version: '1.0.0', repository: { url } })).toBe(address);
});
