import { asArray, type Document, type Finding, isObject } from '../document/document.ts';
import type { Operation } from '../document/operations.ts';
import { eachSchema } from '../document/schema.ts';
import { examplesOf } from '../samples/examples.ts';
import { schemasOf } from './check-schemas.ts';
import { misfitOf } from './fits.ts';

/** The examples that do not fit their schemas: of schemas, parameters, headers, and bodies in JSON or forms. */
export function checkExamples({ root }: Document, operations: readonly Operation[]): Finding[] {
  const findings: Finding[] = [];
  const check = (schema: unknown, value: unknown, pointer: string) => {
    const misfit = isObject(schema) && value !== undefined ? misfitOf(root, schema, value) : undefined;
    if (misfit !== undefined) findings.push({ pointer, message: `the example does not fit its schema: ${misfit}` });
  };
  for (const { schema, pointer } of schemasOf(root, operations)) {
    eachSchema(schema, pointer, (inner, at) => {
      check(inner, inner.example, `${at}/example`);
      for (const [index, value] of asArray(inner.examples).entries()) check(inner, value, `${at}/examples/${index}`);
    });
  }
  for (const { parameters, requestBody, responses } of operations) {
    const bodies = [...(requestBody?.media ?? []), ...responses.flatMap(({ media }) => media)];
    const holders = [
      ...parameters,
      ...responses.flatMap(({ headers }) => headers),
      ...bodies.filter(({ kind }) => kind === 'json' || kind === 'form'),
    ];
    for (const holder of holders) {
      for (const { value, name, pointer = '' } of examplesOf(root, holder)) {
        check(holder.schema, value, `${pointer.slice(1)}${name === undefined ? '' : '/value'}`);
      }
    }
  }
  return findings;
}
