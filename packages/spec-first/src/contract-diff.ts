import { type Document, follow, type Json, objectAt, token } from 'spec-first-server/internal/document/document';
import {
  type DeclaredResponse,
  essenceOf,
  type MediaType,
  type Operation,
  operationsOf,
  type Parameter,
  type SecurityRequirement,
} from 'spec-first-server/internal/document/operations';
import { Containment, type Direction, type Place } from './containment.ts';

/** A change of the contract that a client can notice. */
export interface Change {
  /** Whether a client of the older document may fail with the newer one. */
  readonly breaking: boolean;
  /** The operations that it concerns, as `POST /plants`, or the part of the document. */
  readonly where: readonly string[];
  readonly what: string;
  /** The place in the newer document (a JSON pointer, RFC 6901), or where the place would be. */
  readonly pointer: string;
}

/**
 * Compares two versions of a document as a client sees them. A request that was valid must stay valid; a response must
 * stay one that the older document declares. Descriptions, examples and names of components are no changes.
 *
 * @returns breaking changes first; each once, with all operations that it concerns.
 */
export function compareContracts(before: Document, after: Document): Change[] {
  const comparison = new Comparison(before.root, after.root);
  comparison.servers();
  const older = new Map(operationsOf(before).map((operation) => [keyOf(operation), operation]));
  const newer = new Map(operationsOf(after).map((operation) => [keyOf(operation), operation]));
  for (const [key, operation] of older) {
    const now = newer.get(key);
    if (now === undefined) comparison.add(true, operation, 'the operation is gone', operation.pointer);
    else comparison.operations(operation, now);
  }
  for (const [key, operation] of newer) {
    if (!older.has(key)) comparison.add(false, operation, 'the operation is new', operation.pointer);
  }
  return comparison.changes();
}

/** A path is the same to clients whatever its parameters are called. */
const keyOf = ({ method, path }: Operation): string => `${method} ${path.replace(/\{[^}]*\}/g, '{}')}`;

const nameOf = ({ method, path }: Operation): string => `${method.toUpperCase()} ${path}`;

class Comparison {
  readonly #before: Json;
  readonly #after: Json;
  readonly #found = new Map<string, { breaking: boolean; where: Set<string>; what: string; pointer: string }>();
  readonly #containments = {
    request: { narrower: new Containment('request', true), wider: new Containment('request', false) },
    response: { narrower: new Containment('response', true), wider: new Containment('response', false) },
  };

  constructor(before: Json, after: Json) {
    this.#before = before;
    this.#after = after;
  }

  changes(): Change[] {
    const all = [...this.#found.values()].map((change) => ({ ...change, where: [...change.where] }));
    return [...all.filter(({ breaking }) => breaking), ...all.filter(({ breaking }) => !breaking)];
  }

  /** Changes with the same key are one. */
  add(breaking: boolean, where: Operation | string, what: string, pointer: string, key = `${what} ${pointer}`): void {
    const known = this.#found.get(key) ?? { breaking, where: new Set(), what, pointer };
    known.breaking ||= breaking;
    known.where.add(typeof where === 'string' ? where : nameOf(where));
    this.#found.set(key, known);
  }

  servers(): void {
    const urls = (root: Json) => {
      const servers = Array.isArray(root.servers) ? root.servers : [];
      return servers.map((server) => String(objectAt(server).url));
    };
    const [older, newer] = [urls(this.#before), urls(this.#after)];
    for (const url of older) if (!newer.includes(url)) this.add(true, 'servers', `${url} is gone`, '/servers');
    for (const [index, url] of newer.entries()) {
      if (!older.includes(url)) this.add(false, 'servers', `${url} is new`, `/servers/${index}`);
    }
  }

  operations(older: Operation, newer: Operation): void {
    if (older.id !== newer.id) {
      this.add(false, newer, `operationId is now ${newer.id}, was ${older.id}`, `${newer.pointer}/operationId`);
    }
    this.#security(older, newer);
    this.#parameters(older, newer);
    this.#requestBody(older, newer);
    this.#responses(older, newer);
  }

  #security(older: Operation, newer: Operation): void {
    const was = older.security.length > 0 ? older.security : [{}];
    const now = newer.security.length > 0 ? newer.security : [{}];
    const own = objectAt(objectAt(objectAt(this.#after.paths)[newer.path])[newer.method]).security !== undefined;
    const pointer = own ? `${newer.pointer}/security` : '/security';
    const enough = (given: SecurityRequirement, givenRoot: Json, wanted: SecurityRequirement, wantedRoot: Json) =>
      Object.entries(wanted).every(([name, scopes]) =>
        Object.entries(given).some(
          ([own, granted]) =>
            signatureOf(givenRoot, own) === signatureOf(wantedRoot, name) &&
            scopes.every((scope) => granted.includes(scope)),
        ),
      );
    for (const given of was) {
      if (now.some((wanted) => enough(given, this.#before, wanted, this.#after))) continue;
      this.add(true, newer, `security: ${describe(given)} is no longer enough, ${credentials(now)} is`, pointer);
    }
    for (const given of now) {
      if (was.some((wanted) => enough(given, this.#after, wanted, this.#before))) continue;
      this.add(false, newer, `security: ${describe(given)} is now enough`, pointer);
    }
  }

  #parameters(older: Operation, newer: Operation): void {
    const was = parametersByKey(older);
    const now = parametersByKey(newer);
    for (const [key, parameter] of was) {
      const other = now.get(key);
      const label = `${parameter.in} parameter "${parameter.name}"`;
      if (other === undefined) {
        // Only a query is refused for a name that the document does not know.
        this.add(parameter.in === 'query', newer, `${label} is gone`, `${newer.pointer}/parameters`);
        continue;
      }
      if (parameter.required !== other.required) {
        const text = other.required ? 'is now required' : 'is no longer required';
        this.add(other.required, newer, `${label} ${text}`, other.pointer);
      }
      const form = ({ style, explode, json }: Parameter) => (json ? 'JSON' : `${style}${explode ? ', exploded' : ''}`);
      if (form(parameter) !== form(other)) {
        this.add(true, newer, `${label} is now written as ${form(other)}, was ${form(parameter)}`, other.pointer);
      }
      const place = (root: Json, { schema, pointer, json }: Parameter): Place => ({
        root,
        schema,
        pointer: json ? pointer : `${pointer}/schema`,
      });
      this.#schemas(newer, label, 'request', place(this.#before, parameter), place(this.#after, other));
    }
    for (const [key, parameter] of now) {
      if (was.has(key)) continue;
      const text = `${parameter.in} parameter "${parameter.name}" is new${parameter.required ? ' and required' : ''}`;
      this.add(parameter.required, newer, text, parameter.pointer);
    }
  }

  #requestBody(older: Operation, newer: Operation): void {
    const [was, now] = [older.requestBody, newer.requestBody];
    const pointer = `${newer.pointer}/requestBody`;
    if (was === undefined && now === undefined) return;
    if (was === undefined || now === undefined) {
      const required = now?.required === true;
      const text = now === undefined ? 'is gone' : `is new${required ? ' and required' : ''}`;
      this.add(now === undefined || required, newer, `request body ${text}`, pointer);
      return;
    }
    if (was.required !== now.required) {
      this.add(now.required, newer, `request body is ${now.required ? 'now' : 'no longer'} required`, pointer);
    }
    this.#media(newer, 'request body', 'request', was.media, now.media, pointer);
  }

  #responses(older: Operation, newer: Operation): void {
    for (const response of older.responses) {
      const now = sameResponse(newer, response);
      if (now === undefined) {
        this.add(true, newer, `response ${response.key} is gone`, `${newer.pointer}/responses`);
        continue;
      }
      this.#response(newer, response, now);
    }
    for (const response of newer.responses) {
      if (older.responses.some(({ key }) => key.toUpperCase() === response.key.toUpperCase())) continue;
      const was = sameResponse(older, response);
      if (was !== undefined) {
        this.#response(newer, was, response);
        continue;
      }
      // A client has to cope with any failure, but not with a success that it does not know.
      const breaking = /^[123]/.test(response.key);
      this.add(breaking, newer, `response ${response.key} is new`, response.pointer);
    }
  }

  #response(operation: Operation, was: DeclaredResponse, now: DeclaredResponse): void {
    const label = `response ${was.key === now.key ? was.key : `${was.key} → ${now.key}`}`;
    this.#media(operation, label, 'response', was.media, now.media, now.pointer);
    for (const header of was.headers) {
      const other = now.headers.find(({ name }) => name === header.name);
      const what = `${label}: header "${header.name}"`;
      const pointer = `${now.pointer}/headers`;
      if (other === undefined) this.add(header.required, operation, `${what} is gone`, pointer);
      else {
        if (header.required !== other.required) {
          this.add(
            header.required,
            operation,
            `${what} is ${other.required ? 'now' : 'no longer'} always sent`,
            pointer,
          );
        }
        const at = `${pointer}/${token(header.name)}/schema`;
        const before = { root: this.#before, schema: header.schema, pointer: at };
        this.#schemas(operation, what, 'response', before, { root: this.#after, schema: other.schema, pointer: at });
      }
    }
    for (const { name } of now.headers) {
      if (was.headers.some((header) => header.name === name)) continue;
      this.add(false, operation, `${label}: header "${name}" is new`, `${now.pointer}/headers`);
    }
  }

  #media(
    operation: Operation,
    label: string,
    direction: Direction,
    was: readonly MediaType[],
    now: readonly MediaType[],
    pointer: string,
  ): void {
    for (const media of was) {
      const other =
        now.find(({ type }) => sameType(type, media.type)) ?? now.find(({ type }) => covers(type, media.type));
      if (other === undefined) {
        this.add(true, operation, `${label}: ${media.type} is gone`, `${pointer}/content`);
        continue;
      }
      const what = now.length > 1 ? `${label} (${other.type})` : label;
      const place = (root: Json, { schema, pointer }: MediaType): Place => ({
        root,
        schema: schema ?? true,
        pointer: `${pointer}/schema`,
      });
      this.#schemas(operation, what, direction, place(this.#before, media), place(this.#after, other));
    }
    for (const { type, pointer } of now) {
      if (was.some((media) => sameType(type, media.type))) continue;
      this.add(false, operation, `${label}: ${type} is new`, pointer);
    }
  }

  #schemas(operation: Operation, label: string, direction: Direction, was: Place, now: Place): void {
    const { narrower, wider } = this.#containments[direction];
    const sides = [
      { differences: narrower.differences([was], [now]), breaking: direction === 'request' },
      { differences: wider.differences([now], [was]), breaking: direction === 'response' },
    ];
    for (const { differences, breaking } of sides) {
      for (const { path, text, pointer, harmless } of differences.toSorted((a, b) => a.path.length - b.path.length)) {
        const what = `${label}: ${path === '' ? '' : `"${path}" `}${text}`;
        // What a schema says is told once for all places that lead to it.
        const key = `${direction} ${breaking} ${text} ${pointer}`;
        this.add(breaking && !harmless, operation, what, pointer || now.pointer, key);
      }
    }
  }
}

/** Path parameters go by their position in the path, header parameters by their name in any case. */
function parametersByKey({ path, parameters }: Operation): Map<string, Parameter> {
  const inPath = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name);
  return new Map(
    parameters.map((parameter) => {
      const { in: where, name } = parameter;
      const key = where === 'path' ? inPath.indexOf(name) : where === 'header' ? name.toLowerCase() : name;
      return [`${where} ${key}`, parameter];
    }),
  );
}

/**
 * The response of an operation for what another document declares under a code, a range or `default`. Where successes
 * are declared by themselves, `default` stands for failures.
 */
function sameResponse(operation: Operation, { key }: DeclaredResponse): DeclaredResponse | undefined {
  const find = (wanted: string) => operation.responses.find((response) => response.key.toUpperCase() === wanted);
  const isSuccess = /^[123]/;
  const defaultCovers = !isSuccess.test(key) || !operation.responses.some((response) => isSuccess.test(response.key));
  return find(key.toUpperCase()) ?? find(`${key[0]}XX`) ?? (defaultCovers ? find('DEFAULT') : undefined);
}

const sameType = (one: string, other: string): boolean => essenceOf(one) === essenceOf(other);

/** Whether a media type range (RFC 9110 §12.5.1) covers a media type. */
function covers(range: string, type: string): boolean {
  const essence = essenceOf(range);
  return essence === '*/*' || (essence.endsWith('/*') && essenceOf(type).startsWith(essence.slice(0, -1)));
}

/** What a client must do for a scheme, whatever the document calls it. */
function signatureOf(root: Json, name: string): string {
  const schemes = objectAt(objectAt(root.components).securitySchemes);
  const source = follow(root, schemes[name]) ?? {};
  const key = source.in === 'header' ? String(source.name).toLowerCase() : source.name;
  return JSON.stringify([
    source.type,
    String(source.scheme ?? '').toLowerCase(),
    source.in,
    key,
    source.openIdConnectUrl,
  ]);
}

const credentials = (alternatives: readonly SecurityRequirement[]): string => alternatives.map(describe).join(' or ');

const describe = (alternative: SecurityRequirement): string =>
  Object.entries(alternative)
    .map(([name, scopes]) => (scopes.length > 0 ? `${name} (${scopes.join(', ')})` : name))
    .join(' with ') || 'no credentials';
