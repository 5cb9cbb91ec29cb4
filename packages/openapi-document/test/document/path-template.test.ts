import { expect, test } from '@jest/globals';
import { pathTemplate } from 'openapi-document';

test.each([
  ['/plants/{id}', '/plants/5', ['5']],
  ['/plants/{id}', '/base/plants/a%2Fb', ['a%2Fb']],
  ['/files/{name}.{extension}', '/files/a.b.txt', ['a.b', 'txt']],
  ['/tiles/{z}-{x}-{y}.png', '/tiles/1-2-3-4.png', ['1-2', '3', '4']],
  ['/tiles/{z}-{x}-{y}.png', '/tiles/1%2D2-3%2Epng', ['1', '2', '3']],
  ['/caf%C3%A9/{id}!', '/caf%c3%a9/1%21', ['1']],
  ['/plants/{id}:stop', '/plants/1:start', undefined],
  ['/plants/{id}.json', '/plants/.json', undefined],
  ['/plants/a{id}a', '/plants/aa', undefined],
  ['/plants/{id}', '/plants/', undefined],
  ['/plants/{id}/leaves', '/plants//leaves', undefined],
  ['/{a}{b}', '/x', undefined],
  ['/plants', '/trees', undefined],
])('%s matches %s with the parameters %j', (template, path, texts) => {
  expect(pathTemplate(template).match(path)).toEqual(texts);
});

test('a segment with many parameters is matched in linear time', () => {
  const { match } = pathTemplate('/{a}-{b}-{c}-{d}-{e}-{f}.png');
  expect(match(`/${'-'.repeat(60_000)}.jpg`)).toBeUndefined();
  expect(match(`/${'-'.repeat(60_000)}.png`)).toHaveLength(6);
});
