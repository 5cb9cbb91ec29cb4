import {
  asArray,
  asObject,
  declaredFor,
  decoded,
  isObject,
  type Json,
  type Operation,
  pathTemplate,
  resolveRef,
  valueAt,
} from 'openapi-document';
import { bodyOf } from './checks.ts';
import type { Answer } from './client.ts';
import { namedIn, type Values } from './parts.ts';

/** At most so many things of one kind are remembered. */
const REMEMBERED = 50;

/** What exists in the service, as its replies tell: values of path parameters that belong together. */
export type Known = ReturnType<typeof rememberIds>;

export function rememberIds(root: Json, operations: readonly Operation[]) {
  const byPath = new Map<string, Json[]>();
  const knownOf = ({ path }: Operation) => byPath.get(resourceOf(path)) ?? [];

  function remember(target: Operation, found: Json): void {
    const { names } = pathTemplate(resourceOf(target.path));
    const typed = names.flatMap((name) => {
      const parameter = target.parameters.find((each) => each.in === 'path' && each.name === name);
      const value = found[name];
      if (parameter === undefined || value === undefined || isObject(value)) return [];
      return [[name, parameter.read(parameter.write(value))] as const];
    });
    if (names.length === 0 || typed.length < names.length) return;
    byPath.set(resourceOf(target.path), [Object.fromEntries(typed), ...knownOf(target)].slice(0, REMEMBERED));
  }

  return {
    /** Takes ids from a reply: by links, by `Location`, and by properties that are named as path parameters are. */
    learn(operation: Operation, values: Values, answer: Answer): void {
      if (answer.status < 200 || answer.status > 299) return;
      const path = namedIn(values, 'path');
      if (operation.method === 'delete') {
        const isOther = (known: Json) => Object.entries(path).some(([name, value]) => known[name] !== value);
        byPath.set(resourceOf(operation.path), knownOf(operation).filter(isOther));
        return;
      }
      remember(operation, path);
      const body = bodyOf(answer);
      // Link Objects (OpenAPI 3.1 §4.8.20).
      for (const link of Object.values(asObject(declaredFor(operation, answer.status)?.source.links))) {
        const { operationId, parameters } = resolveRef(root, link) ?? {};
        const named = Object.entries(asObject(parameters)).map(([name, expression]) => [
          name.replace(/^path\./, ''),
          evaluate(expression, values, answer, body),
        ]);
        const target = operations.find(({ id }) => id === operationId);
        if (target !== undefined) remember(target, { ...path, ...Object.fromEntries(named) });
      }
      const { pathname = '' } = URL.parse(answer.headers.location ?? '', 'http://host') ?? {};
      for (const target of operations) {
        const resource = resourceOf(target.path);
        const { names, match } = pathTemplate(resource);
        const texts = match(pathname);
        if (texts)
          remember(target, Object.fromEntries(names.map((name, index) => [name, decoded(texts[index] ?? '')])));
        // The resource itself, or the collection that it belongs to.
        if (operation.path !== resource && operation.path !== resource.replace(/\/[^/]*$/, '')) continue;
        const [name = ''] = names.slice(-1);
        for (const entity of entitiesIn(body)) {
          remember(target, { ...path, [name]: entity[name] ?? (/id$/i.test(name) ? entity.id : undefined) });
        }
      }
    },
    /** The path parameters of something that exists; `undefined` if nothing is known. */
    pathOf(operation: Operation, turn: number): Json | undefined {
      const known = knownOf(operation);
      return known[turn % known.length];
    },
    /** Values for a parameter or a member by its name, such as `roomId`. */
    valuesOf: (name: string): unknown[] =>
      [...byPath.values()]
        .flat()
        .flatMap((known) => (name !== 'id' && Object.hasOwn(known, name) ? [known[name]] : [])),
  };
}

/** A path template up to its last parameter: `/rooms/{roomId}` of `/rooms/{roomId}/close`. */
const resourceOf = (template: string): string => template.slice(0, template.lastIndexOf('}') + 1);

/** The value of a runtime expression (OpenAPI 3.1 §4.8.20.3). */
function evaluate(expression: unknown, values: Values, answer: Answer, body: unknown): unknown {
  const [, of, where, name = ''] = /^\$(request|response)\.(\w+)[.#]?(.*)$/.exec(String(expression)) ?? [];
  if (of === undefined) return expression;
  if (where === 'body') return valueAt(of === 'request' ? namedIn(values, 'body')[''] : body, name);
  if (where === 'header') return answer.headers[name.toLowerCase()];
  return namedIn(values, where === 'path' ? 'path' : 'query')[name];
}

/** The objects in a reply that may be things with an id: the body, its items, and the items of its lists. */
const entitiesIn = (body: unknown): Json[] =>
  [body, ...asArray(body), ...Object.values(asObject(body)).flatMap(asArray)].filter(isObject).slice(0, 5);
