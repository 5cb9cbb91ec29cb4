/** Parts of OpenAPI documents, and a validator for their schemas. */

import type { Received } from './http.ts';

export type Json = Record<string, unknown>;

export const json = (schema: object) => ({ content: { 'application/json': { schema } } });
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
export const FAILURE = { $ref: '#/components/responses/Failure' };
export const parameter = (place: string, name: string, schema: object, required = false) => ({
  ...{ in: place, name, schema },
  ...(required && { required }),
});
export const inPath = (name: string, schema: object = { type: 'string', minLength: 1 }) =>
  parameter('path', name, schema, true);
export const operation = (operationId: string, responses: Json, others: Json = {}) => ({
  ...{ operationId, responses: { ...responses, '4XX': FAILURE } },
  ...others,
});
export const bodyOf = (name: string) => ({ requestBody: { required: true, ...json(ref(name)) } });
export const replyOf = (schema: object) => ({ description: 'Done.', ...json(schema) });
export const listOf = (name: string) => ({ type: 'array', items: ref(name) });
export function failureOf(description: string) {
  const message = { type: 'object', properties: { message: { type: 'string' } } };
  return { description, ...json(message) };
}

export type Schema = { readonly type?: unknown; readonly enum?: readonly unknown[] } & Json;

/** Returns true if a value satisfies one of the schemas above. */
export function isValid(schema: Schema, value: unknown): boolean {
  const types = [schema.type].flat();
  if (value === null) return types.includes('null');
  if (schema.enum !== undefined) return schema.enum.includes(value);
  if (types.includes('array'))
    return (
      Array.isArray(value) &&
      value.length <= Number(schema.maxItems) &&
      value.every((item) => isValid(schema.items as Schema, item))
    );
  if (types.includes('object')) return isObject(value) && areValid(schema.properties, value);
  if (types.includes('boolean')) return typeof value === 'boolean';
  if (types.includes('string')) return isText(schema, value);
  const { minimum = 0, maximum = Infinity, multipleOf = 1e-9 } = schema;
  const steps = Number(value) / (types.includes('integer') ? 1 : Number(multipleOf));
  return (
    typeof value === 'number' &&
    value >= Number(minimum) &&
    value <= Number(maximum) &&
    Math.abs(steps - Math.round(steps)) < 1e-6
  );
}

export function isText(schema: Schema, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const length = [...value].length;
  const date = /^\d{4}-\d\d-\d\d/.exec(value)?.[0] ?? '';
  const isDate = new Date(`${date}T00:00:00Z`).toJSON()?.startsWith(date) === true;
  if (schema.format === 'date') return isDate && value === date;
  if (schema.format === 'date-time')
    return (
      isDate && /^.{10}[Tt].*([zZ]|[+-]\d\d:\d\d)$/.test(value) && !Number.isNaN(Date.parse(value))
    );
  return (
    length >= Number(schema.minLength ?? 0) &&
    length <= Number(schema.maxLength ?? Infinity) &&
    new RegExp(String(schema.pattern ?? ''), 'u').test(value)
  );
}

export const areValid = (schemas: unknown, value: Json): boolean =>
  Object.entries(schemas as Record<string, Schema>).every(
    ([name, schema]) => value[name] === undefined || isValid(schema, value[name]),
  );

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the declared members of a valid body of a request, or `undefined`. */
export function readBody(
  { headers, json: body }: Received,
  schemas: Json,
  required: readonly string[] = [],
  type = 'application/json',
): Json | undefined {
  if (headers['content-type']?.split(';')[0] !== type || !isObject(body)) return undefined;
  if (required.some((name) => body[name] === undefined)) return undefined;
  if (type !== 'application/json' && Object.keys(body).length === 0) return undefined;
  if (!areValid(schemas, body)) return undefined;
  return Object.fromEntries(Object.entries(body).filter(([name]) => schemas[name] !== undefined));
}
