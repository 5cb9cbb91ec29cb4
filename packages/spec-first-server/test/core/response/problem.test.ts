import { expect, test } from '@jest/globals';
import { Forbidden, HttpError } from '../../../src/core/response/http-error.ts';
import { PROBLEM_DETAILS } from '../../../src/core/response/problem.ts';

test('problem details have a title for each status, and the message as detail', () => {
  expect(PROBLEM_DETAILS.make({ status: 409, message: 'the id is taken' })).toEqual({
    title: 'Conflict',
    status: 409,
    detail: 'the id is taken',
  });
});

test('problem details name the type of an error, and each place that breaks the document', () => {
  const { status, message, type } = new HttpError(422, 'too many', { type: '/problems/too-many' });
  const errors = [{ path: '/body/a~1b', message: 'must be integer', keyword: 'type' }];
  expect(PROBLEM_DETAILS.make({ status, message, type, errors })).toEqual({
    type: '/problems/too-many',
    title: 'Unprocessable Entity',
    status: 422,
    detail: 'too many',
    errors: [{ detail: 'must be integer', pointer: '#/body/a~1b' }],
  });
});

test('a missing scope has its own message, and names the scopes in the challenge', () => {
  const { message, headers } = new Forbidden(['a:read', 'a:write'], 'ask an administrator');
  expect([message, headers['WWW-Authenticate']]).toEqual([
    'ask an administrator',
    'Bearer error="insufficient_scope", scope="a:read a:write"',
  ]);
});
