import { examplesOf } from '../operations/media.ts';
import type { Schemas } from '../schema/schemas.ts';
import { asArray, type Finding, pointerTokens } from '../source/document.ts';
import { walk } from '../source/kinds.ts';
import { essenceOf, isJsonType, URLENCODED } from '../source/media-types.ts';

/**
 * Returns the reason why an example or a default does not fit its schema. It may have the members
 * of both directions, or lack them.
 */
export function misfitOf(schemas: Schemas, schema: unknown, value: unknown): string | undefined {
  const [violation] = schemas.at(schema, 'example').check(value).violations ?? [];
  return violation && `${violation.path} ${violation.message}`.trim();
}

/**
 * Reports examples that do not match their schemas. Checks the examples of schemas, parameters,
 * headers, JSON bodies and URL-encoded forms.
 */
export function checkExamples(schemas: Schemas): Finding[] {
  const { root } = schemas;
  const findings: Finding[] = [];
  const check = (schema: unknown, value: unknown, pointer: string) => {
    if (value === undefined) return;
    const misfit = misfitOf(schemas, schema, value);
    if (misfit !== undefined)
      findings.push({ pointer, message: `the example does not fit its schema: ${misfit}` });
  };
  walk(root, 'document', '', (object, kind, objectPointer) => {
    if (kind === 'schema') {
      check(object, object.example, `${objectPointer}/example`);
      for (const [index, value] of asArray(object.examples).entries())
        check(object, value, `${objectPointer}/examples/${index}`);
    }
    const type = pointerTokens(objectPointer).at(-1) ?? '';
    const isBody = kind === 'mediaType' && (isJsonType(type) || essenceOf(type) === URLENCODED);
    if (!isBody && kind !== 'parameter' && kind !== 'header') return;
    for (const { value, name, pointer } of examplesOf(root, {
      source: object,
      pointer: objectPointer,
    })) {
      check(object.schema, value, `${pointer.slice(1)}${name === undefined ? '' : '/value'}`);
    }
  });
  return findings;
}
