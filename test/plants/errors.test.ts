import { expect, test } from '@jest/globals';
import { errorBody } from '../../src/errors.ts';

test('the body of an error has the status and the message, and nothing else', () => {
  const problem = { status: 400, message: '/body/id must be integer', errors: [] };
  expect(errorBody.mediaType).toBe('application/json');
  expect(errorBody.make(problem)).toEqual({ error: 400, message: '/body/id must be integer' });
});
