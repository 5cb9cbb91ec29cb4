import { STATUS_CODES } from 'node:http';
import { isObject, type Json, type Schemas } from 'openapi-document';
import { valuesOf } from 'openapi-document/samples';
import { propertyName, quoted } from './types.ts';

/** The values from which `make` makes a body. */
interface Problem {
  readonly type: string;
  readonly status: number;
  readonly message: string;
}

/** A part of a body that depends on the problem. */
class Expression {
  /** In TypeScript. */
  readonly source: string;
  /** The parameter of `make` that the source uses, in TypeScript. */
  readonly parameter: string;
  readonly evaluate: (problem: Problem) => unknown;

  constructor(source: string, parameter: string, evaluate: Expression['evaluate']) {
    this.source = source;
    this.parameter = parameter;
    this.evaluate = evaluate;
  }
}

const TYPE = new Expression('type', "type = 'about:blank'", ({ type }) => type);
const STATUS = new Expression('status', 'status', ({ status }) => status);
const STATUS_TEXT = new Expression('String(status)', 'status', ({ status }) => String(status));
const TITLE = new Expression(
  "STATUS_CODES[status] ?? 'Error'",
  'status',
  ({ status }) => STATUS_CODES[status] ?? 'Error',
);
const MESSAGE = new Expression('message', 'message', ({ message }) => message);

/** Problem details (RFC 9457). */
export const PROBLEM_DETAILS = { type: TYPE, title: TITLE, status: STATUS, detail: MESSAGE };

/** Problems whose bodies must match the schema. */
const PROBLEMS: readonly Problem[] = [
  { type: 'about:blank', status: 404, message: 'x' },
  { type: 'https://example.com/problems/taken', status: 599, message: 'x'.repeat(1000) },
];

/** Names of members that have the message, the most suitable first. */
const MESSAGE_NAMES = [
  /^(detail|message|msg)$/i,
  /message|msg/i,
  /detail|desc|reason|text/i,
  /errors?$/i,
  /title/i,
];

/** Other members, by name. An expression that violates the schema is not used. */
const EXPRESSIONS: readonly [name: RegExp, expression: Expression][] = [
  [/^type$/, TYPE],
  [/status|code|^error$/i, STATUS],
  [/status|code/i, STATUS_TEXT],
  [/title|^error$/i, TITLE],
];

/** The number of samples that are tried. */
const MAX_SAMPLES = 5;

type Path = readonly string[];

/**
 * Returns a body that matches a schema for any problem: an object or an array whose members are
 * expressions or constants. Returns `undefined` if none is found.
 */
export function fillBody(schemas: Schemas, place: Json): unknown {
  const schema = schemas.at(place, 'received');
  const fits = (body: unknown): boolean =>
    PROBLEMS.every((problem) => schema.isValid(evaluated(body, problem)));
  if (schemas.outline(place).names.size === 0 && fits(PROBLEM_DETAILS)) return PROBLEM_DETAILS;
  const sample = valuesOf(schemas, place, 'response')
    .take(MAX_SAMPLES)
    .find((value) => typeof value === 'object' && value !== null && fits(value));
  if (sample === undefined) return undefined;

  let body: unknown = sample;
  const attempt = (path: Path, value: unknown): boolean => {
    const changed = changedAt(body, path, value);
    const isBetter = fits(changed);
    if (isBetter) body = changed;
    return isBetter;
  };
  const leaves = pathsIn(sample).filter((path) => !isParent(valueAt(sample, path)));
  const shallowFirst = leaves.toSorted((one, other) => one.length - other.length);
  const named = (name: RegExp): Path[] => shallowFirst.filter((path) => name.test(nameOf(path)));

  MESSAGE_NAMES.flatMap(named).some((path) => attempt(path, MESSAGE));
  for (const [name, expression] of EXPRESSIONS) {
    if (expression === TYPE && !shallowFirst.some((path) => nameOf(path) === 'title')) continue;
    for (const path of named(name))
      if (!(valueAt(body, path) instanceof Expression)) attempt(path, expression);
  }
  for (const path of pathsIn(sample).reverse()) {
    const value = valueAt(body, path);
    const isNeeded = isParent(value)
      ? expressionsIn(value).includes(MESSAGE)
      : value instanceof Expression;
    if (!isNeeded && !attempt(path, undefined)) attempt(path, null);
  }
  return body;
}

/** Lists the expressions of a body. */
export function expressionsIn(body: unknown): Expression[] {
  if (body instanceof Expression) return [body];
  return isParent(body) ? Object.values(body).flatMap(expressionsIn) : [];
}

/** Lists the members that are the same in each body, such as `error.code`. */
export const constantsIn = (body: unknown): string[] =>
  pathsIn(body)
    .filter((path) => {
      const value = valueAt(body, path);
      return value !== null && !isParent(value) && !(value instanceof Expression);
    })
    .map((path) => path.join('.'));

/** Returns a body in TypeScript. */
export function bodySource(body: unknown, indentation: string): string {
  if (body instanceof Expression) return body.source;
  if (typeof body === 'bigint') return `${body}n`;
  if (typeof body === 'string') return quoted(body);
  if (!isParent(body)) return String(body);
  const inner = `${indentation}  `;
  const isList = Array.isArray(body);
  const [open, close] = isList ? '[]' : '{}';
  const members = Object.entries(body).map(([name, value]) => {
    const source = bodySource(value, inner);
    if (isList) return source;
    return name === source ? name : `${propertyName(name)}: ${source}`;
  });
  if (members.length === 0) return `${open}${close}`;
  const lines = members.map((member) => `${inner}${member},\n`).join('');
  return `${open}\n${lines}${indentation}${close}`;
}

const isParent = (value: unknown): value is object =>
  Array.isArray(value) || (isObject(value) && !(value instanceof Expression));

/** The name of a member, or of the list in which an item is. */
const nameOf = (path: Path): string => path.findLast((name) => !/^\d+$/.test(name)) ?? '';

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((parent, name) => Object(parent)[name], value);

/** Lists the paths of all members and items, with a parent before its members. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (!isParent(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const inner = [...path, name];
    return [inner, ...pathsIn(member, inner)];
  });
}

/** Returns a copy with another value at a path, or without it if the value is `undefined`. */
function changedAt(parent: unknown, [name, ...path]: Path, value: unknown): unknown {
  if (name === undefined) return value;
  if (!isParent(parent)) return parent;
  const entries = Object.entries(parent)
    .map(([key, member]) => [key, key === name ? changedAt(member, path, value) : member] as const)
    .filter(([, member]) => member !== undefined);
  return Array.isArray(parent) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}

function evaluated(body: unknown, problem: Problem): unknown {
  if (body instanceof Expression) return body.evaluate(problem);
  if (Array.isArray(body)) return body.map((item) => evaluated(item, problem));
  if (!isParent(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, member]) => [name, evaluated(member, problem)]),
  );
}
