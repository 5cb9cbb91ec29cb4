import { asArray, type Finding, isObject, type Json, pointerTokens } from '../document/document.ts';
import { walk } from '../document/kinds.ts';
import { examplesOf } from '../document/media.ts';
import { kindOf } from '../document/media-types.ts';
import { misfitOf } from './fits.ts';

/** The examples that do not fit their schemas: of schemas, parameters, headers, and bodies in JSON or forms. */
export function checkExamples(root: Json): Finding[] {
  const findings: Finding[] = [];
  const check = (schema: unknown, value: unknown, pointer: string) => {
    const misfit = isObject(schema) && value !== undefined ? misfitOf(root, schema, value) : undefined;
    if (misfit !== undefined) findings.push({ pointer, message: `the example does not fit its schema: ${misfit}` });
  };
  walk(root, 'document', '', (object, kind, at) => {
    if (kind === 'schema') {
      check(object, object.example, `${at}/example`);
      for (const [index, value] of asArray(object.examples).entries()) check(object, value, `${at}/examples/${index}`);
    }
    const isBody = kind === 'mediaType' && ['json', 'form'].includes(kindOf(pointerTokens(at).at(-1) ?? ''));
    if (!isBody && kind !== 'parameter' && kind !== 'header') return;
    for (const { value, name, pointer = '' } of examplesOf(root, { source: object, pointer: at })) {
      check(object.schema, value, `${pointer.slice(1)}${name === undefined ? '' : '/value'}`);
    }
  });
  return findings;
}
