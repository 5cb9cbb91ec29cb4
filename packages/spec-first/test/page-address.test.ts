import { expect, test } from '@jest/globals';
import { pageAddress } from '../src/page-address.ts';

test.each([
  [undefined, 'docs/a.md'],
  ['git+https://git.test/a.git/tools.git', 'https://git.test/a.git/tools/blob/main/docs/a.md'],
  ['https://git.test/tools.git', 'https://git.test/tools/blob/main/docs/a.md'],
])('the address of a page in the repository %s is %s', (url, address) => {
  const repository = url === undefined ? {} : { repository: { url } };
  expect(pageAddress('docs/a.md', { version: '1.0.0', ...repository })).toBe(address);
});
