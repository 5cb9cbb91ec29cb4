import { expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { addDefinitions } from '../../src/checks/ajv-definitions.ts';

const LENGTH = 1_000;
const refAt = (index: number) => `#/$defs/S${index}`;

/** Adds objects that each have a member `next` with the next one. */
function addChain(allErrors: boolean, last: object): Ajv2020 {
  const ajv = new Ajv2020({ allErrors, inlineRefs: false, strict: false });
  const refs = Array.from({ length: LENGTH }, (_, index) => refAt(index));
  addDefinitions(ajv, refs, (ref) =>
    ref === refs.at(-1)
      ? last
      : { type: 'object', properties: { next: { $ref: refs[refs.indexOf(ref) + 1] } } },
  );
  return ajv;
}

test.each([false, true])('a long chain of definitions is compiled (allErrors: %s)', (allErrors) => {
  const validate = addChain(allErrors, { type: 'object' }).compile({ $ref: refAt(0) });
  expect(validate({ next: { next: {} } })).toBe(true);
  expect(validate({ next: { next: 1 } })).toBe(false);
  expect(validate.errors).toMatchObject([{ instancePath: '/next/next', keyword: 'type' }]);
});

test('a long circle of definitions is compiled', () => {
  const circle = addChain(false, { properties: { next: { $ref: refAt(0) } } });
  const validate = circle.compile({ properties: { last: { $ref: refAt(LENGTH - 1) } } });
  expect(validate({ last: { next: { next: {} } } })).toBe(true);
  expect(validate({ last: { next: { next: 1 } } })).toBe(false);
  expect(validate.errors).toMatchObject([{ instancePath: '/last/next/next', keyword: 'type' }]);
});

test('members of a definition count as evaluated, even if it is compiled at its first use', () => {
  const ajv = new Ajv2020({ inlineRefs: false, strict: false });
  const definitions: Record<string, object> = {
    [refAt(0)]: { properties: { a: true, b: { $ref: refAt(1) } } },
    [refAt(1)]: { $ref: refAt(0), properties: { c: true }, unevaluatedProperties: false },
  };
  addDefinitions(ajv, Object.keys(definitions), (ref) => definitions[ref] ?? true);
  const validate = ajv.compile({ $ref: refAt(0), unevaluatedProperties: false });
  expect(validate({ a: 1, b: { a: 1, c: 1, b: { c: 1 } } })).toBe(true);
  expect(validate({ a: 1, b: { a: 1, d: 1 } })).toBe(false);
  expect(validate({ c: 1 })).toBe(false);
});

test('a definition is added once', () => {
  const ajv = new Ajv2020();
  const added: string[] = [];
  for (const refs of [[refAt(0)], [refAt(0), refAt(1)]]) {
    addDefinitions(ajv, refs, (ref) => {
      added.push(ref);
      return true;
    });
  }
  expect(added).toEqual([refAt(0), refAt(1)]);
});

test('the error of a definition is thrown where the definition is needed', () => {
  const ajv = new Ajv2020({ inlineRefs: false });
  const bad = { type: 'string', pattern: '(' };
  const holder = { type: 'object', properties: { bad: { $ref: refAt(0) } } };
  addDefinitions(ajv, [refAt(0), refAt(1)], (ref) => (ref === refAt(0) ? bad : holder));
  const validate = ajv.compile({ $ref: refAt(1) });
  expect(validate({})).toBe(true);
  expect(() => validate({ bad: '' })).toThrow('Invalid regular expression');
  expect(() => ajv.compile({ $ref: refAt(0) })).toThrow('Invalid regular expression');
});
