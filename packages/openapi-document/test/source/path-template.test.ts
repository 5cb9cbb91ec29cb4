import { expect, test } from '@jest/globals';
import { matchPath, pathTemplate, writePath } from '../../src/source/path-template.ts';

test.each([
  ['/plants/{id}', '/base/plants/a%2Fb', ['a%2Fb']],
  ['/files/{name}.{extension}', '/files/a.b.txt', ['a.b', 'txt']],
  ['/tiles/{z}-{x}-{y}.png', '/tiles/1-2-3-4.png', ['1-2', '3', '4']],
  ['/tiles/{z}-{x}-{y}.png', '/tiles/1%2D2-3%2Epng', ['1', '2', '3']],
  ['/caf%C3%A9/{id}!', '/caf%c3%a9/1%21', ['1']],
  ['/{a}{b}', '/xyz', ['xy', 'z']],
  ['/a b', '/a%20b', []],
  ['/100%', '/100%', []],
])('the parameters of %s in %s are %j', (template, path, texts) => {
  expect(matchPath(pathTemplate(template), path)).toEqual(texts);
});

test.each([
  ['/plants/{id}:stop', '/plants/1:start'],
  ['/plants/{id}.json', '/plants/.json'],
  ['/plants/a{id}a', '/plants/aa'],
  ['/plants/{id}/leaves', '/plants//leaves'],
  ['/{a}{b}', '/x'],
  ['/a', '/aba'],
])('%s does not match %s', (template, path) => {
  expect(matchPath(pathTemplate(template), path)).toBeUndefined();
});

test('only the text of a template is percent-encoded in a path', () => {
  const template = pathTemplate('/a b/{x y}.{z}');
  expect(writePath(template, (name) => `<${name}>`)).toBe('/a%20b/<x y>.<z>');
});

test('a segment with many parameters is matched, however long it is', () => {
  const template = pathTemplate('/{a}-{b}-{c}-{d}-{e}-{f}.png');
  expect(matchPath(template, `/${'-'.repeat(60_000)}.jpg`)).toBeUndefined();
  expect(matchPath(template, `/${'-'.repeat(60_000)}.png`)).toHaveLength(6);
});
