import fc from 'fast-check';
import { asObject, examplesOf, type Json, type MediaType, type Parameter, resolveRef, valueAt } from 'openapi-document';
import { recordOf, validValues } from './schema-values.ts';
import type { Context, RequestBody, Values } from './values.ts';
import { isWritable } from './write-body.ts';

/**
 * Requests that satisfy the document, made from the schemas and examples of an operation.
 *
 * @throws {Error} if no valid value is found for something that is required.
 */
export function validRequests(context: Context): fc.Arbitrary<Values> {
  const { parameters, requestBody } = context.operation;
  const at = (where: Parameter['in']) => {
    const own = parameters.filter(({ in: place }) => place === where);
    const members = own.flatMap((parameter): [string, fc.Arbitrary<unknown>][] => {
      const values = parameterValues(context, parameter);
      if (values !== undefined) return [[parameter.name, values]];
      if (parameter.required) throw noValue(`the ${where} parameter ${parameter.name}`);
      return [];
    });
    const requiredNames = own.filter(({ required }) => required).map(({ name }) => name);
    return recordOf(members, requiredNames);
  };
  const bodies = (requestBody?.media ?? []).flatMap((media) => bodiesOf(context, media) ?? []);
  if (requestBody?.required === true && bodies.length === 0) throw noValue('the body');
  const none: fc.Arbitrary<RequestBody | undefined> = fc.constant(undefined);
  const body = fc.oneof(...bodies, ...(requestBody?.required === true && bodies.length > 0 ? [] : [none]));
  return fc.record({ path: at('path'), query: at('query'), header: at('header'), cookie: at('cookie'), body });
}

const noValue = (what: string) =>
  new Error(
    `No valid value was found for ${what}. Give it an example in the document, or check that its schema has one.`,
  );

/** Requests of the declared examples of the body and the parameters. What has none is made from its schema. */
export function exampleRequests(context: Context, seed: number): Values[] {
  const { parameters, requestBody } = context.operation;
  const inParameters = parameters.map((parameter) => [parameter, parameterExamples(context, parameter)] as const);
  const inBody = (requestBody?.media ?? []).flatMap((media) => bodyExamples(context, media));
  const count = Math.max(inBody.length, ...inParameters.map(([, examples]) => examples.length));
  if (count === 0) return [];
  return fc.sample(validRequests(context), { numRuns: count, seed }).map((made, index) => {
    const values = { ...made };
    for (const [{ name, in: where }, examples] of inParameters) {
      if (examples.length > 0) values[where] = { ...values[where], [name]: examples[index % examples.length] };
    }
    return inBody.length > 0 ? { ...values, body: inBody[index % inBody.length] } : values;
  });
}

function bodiesOf(context: Context, media: MediaType): fc.Arbitrary<RequestBody> | undefined {
  const { root, checks } = context;
  const check = checks(media.schema, 'request');
  const isValid = (value: unknown) => check(value) === undefined && isWritable(media, value);
  const characters = media.kind === 'json' || media.kind === 'text' ? 'any' : 'plain';
  const made = isAnyText(media) ? fc.string({ minLength: 1 }) : validValues(root, media.schema, characters, isValid);
  const shown = bodyExamples(context, media);
  const bodies = made?.map((value): RequestBody => ({ media, value }));
  return shown.length === 0 ? bodies : bodies ? mixed(bodies, shown) : fc.constantFrom(...shown);
}

/** Whether any text is a body: the schema of bytes says nothing that can be checked. */
const isAnyText = ({ kind, constrained }: MediaType): boolean => kind === 'stream' && !constrained;

function bodyExamples({ root, checks }: Context, media: MediaType): RequestBody[] {
  const check = checks(media.schema, 'request');
  return examplesOf(root, media)
    .filter(({ value }) => (check(value) === undefined || isText(media, value)) && isWritable(media, value))
    .map(({ value }) => ({ media, value }));
}

/** Whether an example is the text of a body that only its media type can read, such as XML. */
const isText = ({ kind }: MediaType, value: unknown): boolean => kind === 'stream' && typeof value === 'string';

function parameterValues(context: Context, parameter: Parameter): fc.Arbitrary<unknown> | undefined {
  const { root, checks } = context;
  const { in: where, json, schema } = parameter;
  const check = checks(schema, 'request');
  const inHeader = where === 'header' || where === 'cookie';
  const isValid = (value: unknown) => check(value) === undefined && (json || hasText(value, where));
  const composite = new Set([schema].flatMap((of) => [asObject(resolveRef(root, of)).type].flat()));
  const plain = inHeader || composite.has('array') || composite.has('object');
  const made = validValues(root, schema, plain ? 'plain' : 'any', isValid);
  const shown = parameterExamples(context, parameter);
  return shown.length === 0 ? made : made ? mixed(made, shown) : fc.constantFrom(...shown);
}

/** The declared examples of a parameter that fit its schema (OpenAPI 3.1 §4.8.12.2.1). */
function parameterExamples({ root, checks }: Context, { pointer, schema, in: where, json }: Parameter): unknown[] {
  const source: Json = resolveRef(root, valueAt(root, pointer)) ?? {};
  const [media] = Object.values(asObject(source.content));
  const check = checks(schema, 'request');
  return [source, asObject(media)]
    .flatMap((of) => examplesOf(root, { source: of, pointer }))
    .map(({ value }) => value)
    .filter((value) => check(value) === undefined && (json || hasText(value, where)));
}

/** Whether a value has a text of its own at its place. An empty list, say, is written as nothing. */
function hasText(value: unknown, where: Parameter['in']): boolean {
  if (typeof value === 'object' && value !== null) {
    // The styles define no text for what is inside a member (OpenAPI 3.1 §4.8.12.3).
    const members = Object.values(value);
    return members.length > 0 && members.every((item) => typeof item !== 'object' && hasText(item, where));
  }
  if (value === null || value === '' || (where === 'path' && /^\.\.?$/.test(String(value)))) return false;
  return where !== 'header' || /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(String(value));
}

const mixed = <T>(made: fc.Arbitrary<T>, shown: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: made, weight: 3 }, { arbitrary: fc.constantFrom(...shown), weight: 1 });
