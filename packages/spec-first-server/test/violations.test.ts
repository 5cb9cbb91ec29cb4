import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { withFiles } from 'test-support/documents';
import { createValidators, Violations } from '../src/core/validation/validator.ts';

/** Returns a function that validates a body by a schema, and the error that it throws. */
async function validatorOf(schema: string) {
  const document = `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
paths:
  /a:
    post:
      operationId: a
      requestBody: { required: true, content: { application/json: { schema: ${schema} } } }
      responses: { '204': { description: done } }
`;
  const { root, operations } = await withFiles({ 'openapi.yaml': document }, (folder) =>
    loadDocument(join(folder, 'openapi.yaml')),
  );
  const [operation] = operations;
  const validator = operation && createValidators(root)(operation);
  const media = operation?.requestBody?.media[0];
  return (body: unknown): Violations | undefined => {
    try {
      validator?.request({ path: {}, query: {}, header: {}, cookie: {} }, media, body);
    } catch (error) {
      if (error instanceof Violations) return error;
      throw error;
    }
    return undefined;
  };
}

/** Runs a task after a first time in which schemas are compiled. Returns its CPU time in ms. */
function cpuTimeOf(task: () => void): number {
  task();
  const before = process.threadCpuUsage();
  task();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

const names = Array.from({ length: 60 }, (_, at) => `member${at}`);
const ALTERNATIVES = `{ type: array, items: { anyOf: [${['a', 'b', 'c', 'd']
  .map((name) => `{ type: object, required: [${name}, ${names.map((each) => name + each)}] }`)
  .join(', ')}] } }`;

describe('an invalid value', () => {
  test('with long names costs little time, and has a short message', async () => {
    const validate = await validatorOf(
      '{ type: object, additionalProperties: { type: array, items: { required: [a] } } }',
    );
    const body = { [`${'x'.repeat(60_000)}`]: Array.from({ length: 1_500 }, () => ({})) };
    let error: Violations | undefined;
    const time = cpuTimeOf(() => {
      error = validate(body);
    });
    expect(time).toBeLessThan(100);
    expect(error?.message.length).toBeLessThan(10_000);
    expect(error?.violations).toHaveLength(20);
    for (const { path } of error?.violations ?? []) {
      expect(path.length).toBeLessThan(300);
      expect(path).toMatch(/^\/body\/x+…x*\/\d+\/a$/);
    }
  });

  test('of a schema with many required members in alternatives costs little time', async () => {
    const validate = await validatorOf(ALTERNATIVES);
    const body = Array.from({ length: 1_900 }, () => ({}));
    let error: Violations | undefined;
    const time = cpuTimeOf(() => {
      error = validate(body);
    });
    expect(time).toBeLessThan(100);
    expect(error?.violations.length).toBeGreaterThan(0);
    expect(error?.violations.length).toBeLessThanOrEqual(20);
  });

  test('with 20 violations names each, and with more the first 20', async () => {
    const validate = await validatorOf(
      '{ type: object, additionalProperties: { type: integer, maximum: 5 } }',
    );
    const wrong = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, 9]));
    const twenty = validate(wrong(20));
    expect(twenty?.message.split('; ')).toHaveLength(20);
    expect(twenty?.message).toMatch(/; \/body\/m19 must be <= 5$/);
    expect(validate(wrong(21))?.message).toMatch(/; \/body\/m19 must be <= 5; and more$/);
    expect(validate(wrong(21))?.violations).toHaveLength(20);
  });
});

describe('a value with many texts for a pattern', () => {
  const LISTS = "{ type: array, items: { type: string, pattern: '^.*@.*@.*#$' } }";

  test('is validated within the time limit of one long text', async () => {
    const validate = await validatorOf(LISTS);
    const body = Array.from({ length: 1_000 }, () => '@'.repeat(95));
    let error: Violations | undefined;
    const time = cpuTimeOf(() => {
      error = validate(body);
    });
    expect(time).toBeLessThan(100);
    expect(error?.message).toMatch(/must match pattern|takes too long to validate/);
  });

  test('is accepted where they match soon', async () => {
    const validate = await validatorOf(LISTS);
    const body = Array.from({ length: 1_000 }, () => `${'a'.repeat(80)}@example@com#`);
    expect(validate(body)).toBeUndefined();
  });
});
