import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { contractTests } from 'spec-first/contract-tests';
import { testService } from 'spec-first/testing';
import { errorBody } from '../src/errors.ts';

// The service runs in a temporary folder, where it creates files such as `data/books.db`. It does
// not read `.env`, and inherits no variable that names a database. Set variables for tests here:
// testService({ variables: { DATABASE_URL: … } }).
const service = testService();
before(service.start);
after(service.stop);

// Calls each operation with valid and invalid requests, and checks the responses.
await contractTests({ ...service, test });

test('responds to an unknown path with 404 and the error body of the document', async () => {
  // Longer than any path of the document: `/{user}/{file}` would match a short one.
  const response = await fetch(new URL('/unknown'.repeat(50), service.url()));
  assert.equal(response.status, 404);
  const expected = Object(errorBody.make({ status: 404, message: '', requestId: 'any' }));
  assert.deepEqual(Object.keys(Object(await response.json())), Object.keys(expected));
});
