import { expect, jest, test } from '@jest/globals';
import { onFirstUse } from '../../../src/core/validation/on-first-use.ts';

test('each value is created once, when it is first used', () => {
  const create = jest.fn((name: string) => ({ name }));
  const lookUp = onFirstUse(create);
  expect(create).not.toHaveBeenCalled();
  const first = lookUp('a');
  expect(first).toEqual({ name: 'a' });
  expect(lookUp('b')).toEqual({ name: 'b' });
  expect(lookUp('a')).toBe(first);
  expect(create.mock.calls).toEqual([['a'], ['b']]);
});

test('a value that could not be created is created again', () => {
  const create = jest
    .fn(() => 'a')
    .mockImplementationOnce(() => {
      throw new Error('not yet');
    });
  const lookUp = onFirstUse(create);
  expect(() => lookUp(1)).toThrow('not yet');
  expect(lookUp(1)).toBe('a');
});
