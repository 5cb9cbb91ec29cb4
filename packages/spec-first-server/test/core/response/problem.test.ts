import { expect, test } from '@jest/globals';
import { HttpError } from '../../../src/core/response/http-error.ts';
import { PROBLEM_DETAILS, reasonPhrase } from '../../../src/core/response/problem.ts';

test('problem details have the title of the status, and the message as detail', () => {
  expect(PROBLEM_DETAILS.mediaType).toBe('application/problem+json');
  expect(PROBLEM_DETAILS.make({ status: 409, message: 'the id is taken' })).toStrictEqual({
    title: 'Conflict',
    status: 409,
    detail: 'the id is taken',
  });
});

test('problem details contain the type of an error, and a pointer to each violation', () => {
  const { status, message, type } = new HttpError(422, 'too many', { type: '/problems/too-many' });
  const path = '/body/a~1b/100 %#ä\ud800';
  const errors = [{ path, message: 'must be integer', keyword: 'type' }];
  expect(PROBLEM_DETAILS.make({ status, message, type, errors })).toEqual({
    type: '/problems/too-many',
    title: 'Unprocessable Entity',
    status: 422,
    detail: 'too many',
    errors: [{ detail: 'must be integer', pointer: '#/body/a~1b/100%20%25%23%C3%A4%EF%BF%BD' }],
  });
});

test.each([
  [418, "I'm a Teapot"],
  [599, 'Error'],
])('the reason phrase of %i is %s', (status, phrase) => {
  expect(reasonPhrase(status)).toBe(phrase);
});
