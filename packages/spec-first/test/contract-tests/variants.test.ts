import { describe, expect, test } from '@jest/globals';
import { Schemas } from 'openapi-document';
import { valuesOf } from 'openapi-document/samples';
import { variantsOf } from '../../src/contract-tests/variants.ts';

const variants = (schema: unknown, value: unknown) => {
  const schemas = new Schemas({});
  const sampleOf = (source: unknown) => [...valuesOf(schemas, source, 'request').take(1)];
  return [...variantsOf(sampleOf, schemas.outline(schema), value)];
};
const values = (schema: unknown, value: unknown) =>
  variants(schema, value).map((variant) => variant.value);
const edgeCases = (schema: unknown, value: unknown) =>
  variants(schema, value)
    .filter(({ place, isEdgeCase }) => place === '' && isEdgeCase)
    .map((variant) => variant.value);

describe('variants', () => {
  test.each([
    [{ minLength: 0, maxLength: 5_000 }, [0, 5_000, 300, 300]],
    [{ minLength: -1, maxLength: 5_001 }, [300, 300]],
    [{ maxLength: 2n ** 60n }, [300, 300]],
  ])('of a text have at most 5,000 characters, or 300 beyond ASCII: %p', (schema, lengths) => {
    const texts = edgeCases(schema, 'a').slice(0, -1).map(String);
    expect(texts.map((text) => [...text].length)).toEqual(lengths);
  });

  test.each([
    'date-time',
    'date',
    'time',
    'duration',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'uri',
    'uri-reference',
    'url',
    'uuid',
  ])('of a text in the format %s are valid and invalid', (format) => {
    const schema = new Schemas({}).at({ type: 'string', format }, 'sent');
    const texts = values({ format }, 'a').filter((value) => typeof value === 'string');
    expect(new Set(texts.map((text) => schema.isValid(text)))).toEqual(new Set([true, false]));
  });
});
