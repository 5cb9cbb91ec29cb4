import { asObject, type DeclaredResponse, type Json, type MediaType, type Operation } from 'openapi-document';
import { TookTooLong, withinBudget } from './budget.ts';
import { Completion } from './completion.ts';
import type { Direction } from './eov.ts';
import { filesOf, withoutFiles } from './files.ts';
import { rounded } from './numbers.ts';
import { type Reading, SchemaRewriter } from './rewrite.ts';
import { SchemaValidators } from './schema-validators.ts';
import { Survey } from './survey.ts';
import { describeViolations, Violations } from './violations.ts';

export { describeViolations, Violations };

const LOCATIONS = ['path', 'query', 'header', 'cookie'] as const;

/** The values of an operation's parameters, by location and name. */
export type Parameters = { readonly [Location in (typeof LOCATIONS)[number]]: Record<string, unknown> };

/** The index of a schema: a media type's, that of a response's headers, or that of an operation without a body. */
type Indices = Map<MediaType | DeclaredResponse | Operation, number>;

/** What the validators of one path item share. */
interface Shared {
  readonly root: Json;
  readonly indices: Indices;
  /** Of the items in requests. */
  readonly itemIndices: ReadonlyMap<MediaType, number>;
  readonly completion: Completion;
  readonly validate: (direction: Direction, index: number, value: unknown) => Survey;
}

/** The time to collect violations grows with their square. A value with so many members is validated up to the first. */
const MANY = 2000;

/** Formats are regular expressions, too. */
const LONG = 10_000;

/** How long a request may be validated, in milliseconds: others wait for so long. */
const BUDGET = 50;
const BUDGET_PER_MEMBER = 0.002;
const BUDGET_PER_CHARACTER = 0.000_01;

/**
 * Makes the validators for the operations of one path item.
 *
 * @param root the whole document.
 */
export function createPathValidators(
  root: Json,
  operations: readonly Operation[],
  reading: Reading,
): Map<Operation, OperationValidator> {
  const rewriter = new SchemaRewriter(root, reading);
  const indices: Indices = new Map();
  const schemas: Record<Direction, Json[]> = { request: [], response: [] };
  const itemIndices = new Map<MediaType, number>();
  const add = (direction: Direction, key: MediaType | DeclaredResponse | Operation, properties: Json): void => {
    indices.set(key, schemas[direction].length);
    schemas[direction].push({ type: 'object', properties });
  };
  for (const operation of operations) {
    const located = locatedParameters(rewriter, operation);
    add('request', operation, located);
    for (const media of (operation.requestBody?.media ?? []).flatMap((declared) =>
      [declared, declared.asJson ?? []].flat(),
    )) {
      const body = media.kind !== 'stream' && { body: rewriter.rewrite(media.schema, 'request') };
      add('request', media, { ...located, ...body });
      if (media.items === undefined) continue;
      itemIndices.set(media, schemas.request.length);
      const item = rewriter.rewrite(media.items.schema, 'request');
      schemas.request.push({ type: 'object', properties: { body: item } });
    }
    for (const response of operation.responses) {
      add('response', response, { headers: objectSchema(rewriter, response.headers, 'response') });
      for (const media of response.media) {
        const schema = media.items === undefined ? media.schema : media.items.schema;
        if (schema !== undefined) add('response', media, { body: rewriter.rewrite(schema, 'response') });
      }
    }
  }
  const { components, safeLength } = rewriter;
  const made = new Map<string, SchemaValidators>();
  const validators = (direction: Direction, allErrors: boolean): SchemaValidators => {
    const key = `${direction} ${allErrors}`;
    const known =
      made.get(key) ?? new SchemaValidators(direction, { indexed: schemas[direction], components }, allErrors);
    made.set(key, known);
    return known;
  };
  const validate: Shared['validate'] = (direction, index, value) => {
    const survey = new Survey(value);
    const all = validators(direction, survey.members < MANY);
    if (direction === 'response') all.validate(index, survey.hasUndefined ? withoutUndefined(value) : value);
    else if (survey.members < MANY && survey.longest <= Math.min(safeLength, LONG)) all.validate(index, value);
    else {
      // To compile it takes longer, but is done once.
      all.prepare(index);
      bounded(() => all.validate(index, value), budgetFor(survey));
    }
    return survey;
  };
  const shared = { root, indices, itemIndices, completion: new Completion(root, reading), validate };
  return new Map(operations.map((operation) => [operation, new OperationValidator(operation, shared)]));
}

const budgetFor = ({ members, longest }: Survey): number =>
  BUDGET + members * BUDGET_PER_MEMBER + longest * BUDGET_PER_CHARACTER;

/** @throws {Violations} if the validation does not end in time, as if the value were not valid. */
function bounded(validate: () => void, milliseconds: number): void {
  try {
    withinBudget(validate, milliseconds);
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    throw new Violations([{ path: '', message: 'the request takes too long to validate', keyword: 'timeout' }]);
  }
}

/** Validates the requests and replies of one operation. */
export class OperationValidator {
  readonly #operation: Operation;
  readonly #shared: Shared;
  /** The parameters with defaults, for themselves or inside. */
  readonly #completed: Operation['parameters'];

  constructor(operation: Operation, shared: Shared) {
    this.#operation = operation;
    this.#shared = shared;
    this.#completed = operation.parameters.filter(({ schema }) => shared.completion.changes(schema));
  }

  /** Returns the values with defaults filled in. @throws {Violations} */
  request(
    { path, query, header, cookie }: Parameters,
    media: MediaType | undefined,
    body: unknown,
  ): { readonly parameters: Parameters; readonly body: unknown } {
    const { root, indices, completion, validate } = this.#shared;
    const validated = media === undefined || media.kind === 'stream' ? undefined : body;
    const isForm = media?.kind === 'multipart';
    const plain = isForm ? withoutFiles(root, media.schema, asObject(validated)) : validated;
    const value = { path, query, header, cookie, body: plain };
    const { hasInexact } = validate('request', indices.get(media ?? this.#operation) ?? 0, value);
    if (hasInexact) rounded(value);
    if (isForm) value.body = { ...asObject(value.body), ...filesOf(asObject(validated)) };
    for (const { in: where, name, schema } of this.#completed) completion.member(value[where], name, schema);
    if (media !== undefined && completion.changes(media.schema)) completion.member(value, 'body', media.schema);
    return { parameters: value, body: validated === undefined ? body : value.body };
  }

  /** Returns an item of a request with defaults filled in. @throws {Violations} */
  item(media: MediaType, item: unknown): unknown {
    const { itemIndices, completion, validate } = this.#shared;
    const value = { body: item instanceof Uint8Array ? '\0'.repeat(item.length) : item };
    const { hasInexact } = validate('request', itemIndices.get(media) ?? 0, value);
    if (item instanceof Uint8Array) return item;
    if (hasInexact) rounded(value);
    if (completion.changes(media.items?.schema)) completion.member(value, 'body', media.items?.schema);
    return value.body;
  }

  /** @throws {Violations} if the body, or the item of one, does not match the media type of the response. */
  response(media: MediaType, body: unknown): void {
    const index = this.#shared.indices.get(media);
    if (index !== undefined) this.#shared.validate('response', index, { body });
  }

  /** @throws {Violations} if the headers, by name in lower case, do not match the response. */
  responseHeaders(response: DeclaredResponse, headers: Json): void {
    const index = this.#shared.indices.get(response);
    if (index !== undefined) this.#shared.validate('response', index, { headers });
  }
}

const locatedParameters = (rewriter: SchemaRewriter, { parameters }: Operation): Json =>
  Object.fromEntries(
    LOCATIONS.flatMap((where) => {
      const members = parameters.filter((parameter) => parameter.in === where);
      return members.length > 0 ? [[where, objectSchema(rewriter, members, 'request')]] : [];
    }),
  );

const objectSchema = (
  rewriter: SchemaRewriter,
  members: readonly { readonly name: string; readonly required: boolean; readonly schema: unknown }[],
  direction: Direction,
): Json => ({
  type: 'object',
  required: members.filter((member) => member.required).map(({ name }) => name),
  properties: Object.fromEntries(members.map(({ name, schema }) => [name, rewriter.rewrite(schema, direction)])),
});

/** A copy without the members that JSON leaves out. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(members.map(([name, item]) => [name, withoutUndefined(item)]));
}
