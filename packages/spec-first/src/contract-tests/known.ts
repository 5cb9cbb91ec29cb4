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
  const withParameters = operations.filter(({ template }) => template.names.length > 0);

  function remember({ path: template, parameters }: Operation, found: Json): void {
    const { names } = pathTemplate(resourceOf(template));
    if (names.length === 0) return;
    if (names.some((name) => found[name] === undefined || isObject(found[name]))) return;
    const typed = names.map((name) => {
      const parameter = parameters.find((each) => each.in === 'path' && each.name === name);
      return [name, parameter?.read(parameter.write(found[name]))] as const;
    });
    const known = byPath.get(resourceOf(template)) ?? [];
    byPath.set(resourceOf(template), [Object.fromEntries(typed), ...known].slice(0, REMEMBERED));
  }

  return {
    /** Takes ids from a reply: by links, by `Location`, and by properties that are named as path parameters are. */
    learn(operation: Operation, values: Values, answer: Answer): void {
      if (answer.status < 200 || answer.status > 299) return;
      const { path: template, method } = operation;
      if (method === 'delete') {
        const gone = namedIn(values, 'path');
        const others = byPath
          .get(resourceOf(template))
          ?.filter((known) => Object.entries(gone).some(([name, value]) => known[name] !== value));
        byPath.set(resourceOf(template), others ?? []);
        return;
      }
      const path = namedIn(values, 'path');
      remember(operation, path);
      const body = bodyOf(answer);
      for (const { operationId, parameters } of linksOf(root, operation, answer.status)) {
        const target = operations.find(({ id }) => id === operationId);
        const named = Object.entries(asObject(parameters)).map(([name, expression]) => [
          name.replace(/^path\./, ''),
          evaluate(expression, values, answer, body),
        ]);
        if (target !== undefined) remember(target, { ...path, ...Object.fromEntries(named) });
      }
      for (const target of withParameters) {
        const located = parametersIn(answer.headers.location, resourceOf(target.path));
        if (located !== undefined) remember(target, located);
        const [name = ''] = pathTemplate(resourceOf(target.path)).names.slice(-1);
        if (template !== collectionOf(target.path) && template !== resourceOf(target.path)) continue;
        for (const entity of entitiesIn(body)) {
          remember(target, { ...path, [name]: entity[name] ?? (/id$/i.test(name) ? entity.id : undefined) });
        }
      }
    },
    /** The path parameters of something that exists; `undefined` if nothing is known. */
    pathOf({ path }: Operation, turn: number): Json | undefined {
      const known = byPath.get(resourceOf(path)) ?? [];
      return known[turn % known.length];
    },
    /** Values for a parameter or a member by its name, such as `roomId`. */
    valuesOf: (name: string): unknown[] =>
      name === 'id'
        ? []
        : [...byPath.values()].flat().flatMap((known) => (Object.hasOwn(known, name) ? [known[name]] : [])),
  };
}

/** A path template up to its last parameter: `/rooms/{roomId}` of `/rooms/{roomId}/close`. */
const resourceOf = (template: string): string => template.slice(0, template.lastIndexOf('}') + 1);

/** The path of the collection that a resource belongs to: `/rooms` of `/rooms/{roomId}`. */
const collectionOf = (template: string): string => resourceOf(template).replace(/\/[^/]*$/, '');

/** The Link Objects of a response (OpenAPI 3.1 §4.8.20). */
const linksOf = (root: Json, operation: Operation, status: number): Json[] =>
  Object.values(asObject(declaredFor(operation, status)?.source.links)).map((link) => resolveRef(root, link) ?? {});

/** The value of a runtime expression (OpenAPI 3.1 §4.8.20.3). */
function evaluate(expression: unknown, values: Values, answer: Answer, body: unknown): unknown {
  const [, of, where, name = ''] = /^\$(request|response)\.(\w+)[.#]?(.*)$/.exec(String(expression)) ?? [];
  if (of === undefined) return expression;
  if (where === 'body') return valueAt(of === 'request' ? namedIn(values, 'body')[''] : body, name);
  if (where === 'header') return answer.headers[name.toLowerCase()];
  return namedIn(values, where === 'path' ? 'path' : 'query')[name];
}

/** The path parameters in a URL of the service. */
function parametersIn(url: string | undefined, template: string): Json | undefined {
  const { names, match } = pathTemplate(template);
  const texts = url === undefined ? undefined : match(URL.parse(url, 'http://host')?.pathname ?? '');
  return texts && Object.fromEntries(names.map((name, index) => [name, decoded(texts[index] ?? '')]));
}

/** The objects in a reply that may be things with an id: the body, its items, and the items of its lists. */
const entitiesIn = (body: unknown): Json[] =>
  [body, ...asArray(body), ...Object.values(asObject(body)).flatMap(asArray)].filter(isObject).slice(0, 5);
