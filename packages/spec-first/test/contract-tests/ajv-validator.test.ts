import { describe, expect, test } from '@jest/globals';
import { createAjvValidator } from '../../src/contract-tests/ajv-validator.ts';
import { documentOf, json, operationIn } from './test-data.ts';

async function validatorOf(schema: unknown, schemas: object = {}) {
  const get = { operationId: 'get', responses: { '200': { description: '', ...json(schema) } } };
  const document = await documentOf({ paths: { '/a': { get } }, components: { schemas } });
  const [media] = operationIn(document, 'get').responses.flatMap((response) => response.media);
  if (media === undefined) throw new Error('the response has no media type');
  const validate = createAjvValidator(document.root);
  return (text: string) => validate(media, text);
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const kind = (name: string) => ({
  type: 'object',
  required: ['kind', name],
  properties: { kind: { type: 'string' }, [name]: {} },
});

describe('the second validator of responses', () => {
  test.each([
    ['a type', { type: 'integer' }, '1', '"1"', '/body must be integer'],
    [
      'a closed object',
      { properties: { discriminator: {}, $ref: {}, required: {} }, additionalProperties: false },
      '{"discriminator":"x","$ref":"#","required":true}',
      '{"b":1}',
      '/body must NOT have additional properties',
    ],
    [
      'decimals',
      { items: { type: 'number', multipleOf: 0.01 } },
      '[19.99,4.35,1.1]',
      '[1.005]',
      '/body/0 must be multiple of 0.01',
    ],
    [
      'a format',
      { format: 'date' },
      '"2024-02-29"',
      '"2023-02-29"',
      '/body must match format "date"',
    ],
    ['an unknown format', { type: 'string', format: 'iban' }, '"x"', '1', '/body must be string'],
    ['a text with #', { const: '#a' }, '"#a"', '"a"', '/body must be equal to constant'],
    ['a schema with a wrong keyword', { type: 'string', title: 7 }, '"x"', '1', '/body must be'],
    ['large bounds', { maximum: 2 ** 60 }, '1152921504606846976', '1e20', '/body must be <= 115'],
  ])('checks %s', async (_name, schema, valid, invalid, message) => {
    const validate = await validatorOf(schema);
    expect(validate(valid)).toBeUndefined();
    expect(validate(invalid)).toContain(message);
  });

  test('follows a long cycle of references', async () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `S ${index}`);
    const cycle = names.map((name, index) => {
      const next = { $ref: `#/components/schemas/${names[index + 1] ?? 'S 0'}` };
      return [name, { type: 'object', properties: { next } }];
    });
    const validate = await validatorOf(ref('S 0'), Object.fromEntries(cycle));
    expect(validate('{"next":{"next":{}}}')).toBeUndefined();
    expect(validate('{"next":{"next":1}}')).toBe('/body/next/next must be object');
  });

  test('follows references, also recursive ones', async () => {
    const Node = { type: 'object', properties: { next: ref('Node'), size: { type: 'integer' } } };
    const validate = await validatorOf({ items: ref('Node') }, { Node });
    expect(validate('[{"next":{"next":{"size":1}}}]')).toBeUndefined();
    expect(validate('[{"next":{"next":{"size":"1"}}}]')).toBe(
      '/body/0/next/next/size must be integer',
    );
  });

  test('does not require members that only requests have', async () => {
    const code = { anyOf: [ref('Pin'), { type: 'null' }] };
    const properties = { secret: { writeOnly: true }, pin: ref('Pin'), code };
    const Login = { default: null, properties };
    const Pin = { type: 'string', writeOnly: true };
    const schema = { allOf: [ref('Login'), { required: ['name', 'secret', 'pin', 'code'] }] };
    const validate = await validatorOf(schema, { Login, Pin });
    expect(validate('{"name":"ada"}')).toBeUndefined();
    expect(validate('{}')).toBe("/body must have required property 'name'");
  });

  test('accepts a value of several alternatives if a discriminator selects one', async () => {
    const schemas = { One: kind('one'), Two: kind('two') };
    const oneOf = [ref('One'), ref('Two')];
    const both = '{"kind":"One","one":1,"two":2}';
    const mapped = await validatorOf({ oneOf, discriminator: { propertyName: 'kind' } }, schemas);
    expect(mapped(both)).toBeUndefined();
    expect(mapped('{"kind":"One"}')).toContain("must have required property 'one'");
    expect((await validatorOf({ oneOf }, schemas))(both)).toContain(
      'must match exactly one schema',
    );
  });

  test('accepts any value if it cannot compile the schema', async () => {
    const validate = await validatorOf({ type: 'string', pattern: '[' });
    expect([validate('1'), validate('1')]).toEqual([undefined, undefined]);
  });
});
