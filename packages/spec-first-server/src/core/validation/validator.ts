import {
  asObject,
  type Budget,
  Codecs,
  type DeclaredResponse,
  type Json,
  type MediaType,
  type Operation,
  onFirstUse,
  type Parameter,
  type Schema,
  type Schemas,
} from 'openapi-document';
import { Violations } from './violations.ts';

export { Violations } from './violations.ts';

export type Parameters = Readonly<
  Record<'path' | 'query' | 'header' | 'cookie', Record<string, unknown>>
>;

export interface ValidatorOptions {
  /** The codecs of the service. By default those of openapi-document. */
  readonly codecs?: Codecs;
  /** Called with the name of each undeclared or `writeOnly` member that is removed from a reply. */
  readonly onDrop?: ((operation: Operation, name: string) => void) | undefined;
  /**
   * True to read messages as a client sends and receives them: nothing is removed, `readOnly`
   * members of requests and `writeOnly` members of responses are violations. By default false.
   */
  readonly forClient?: boolean;
}

/**
 * Validates the requests and replies of one operation. A check that needs more steps than its
 * budget has is a violation.
 */
export interface OperationValidator {
  /** The codecs of the service. */
  readonly codecs: Codecs;
  /** Returns the values with defaults filled in. @throws {Violations} */
  parameters(values: Parameters, budget?: Budget): Parameters;
  /** Returns a body, or an item of one, with defaults filled in. @throws {Violations} */
  body(media: MediaType, body: unknown, budget?: Budget): unknown;
  /**
   * Returns the body of a reply, or an item of one, as it is written: without undeclared and
   * `writeOnly` members.
   *
   * @throws {Violations} if it does not match the media type of the response.
   */
  response(media: MediaType, body: unknown, budget?: Budget): unknown;
  /**
   * Returns the declared headers of a reply, by name in lower case, as values of JSON.
   *
   * @throws {Violations} if they do not match the response.
   */
  responseHeaders(response: DeclaredResponse, headers: Json): Json;
}

/** Reads a value by its schema. @throws {Violations} */
type Read = (value: unknown, budget?: Budget) => unknown;

interface ReadOptions {
  /** The start of the paths of violations, such as `/body`. */
  readonly path?: string;
  /** True if strings may be files. */
  readonly files?: boolean | undefined;
  /** True if texts of typed formats become their values. */
  readonly parsesFormats?: boolean;
  readonly onDrop?: ((name: string) => void) | undefined;
}

/** Returns a function that creates the validator of an operation of a document. */
export function createValidators(
  schemas: Schemas,
  { codecs = new Codecs(), onDrop, forClient = false }: ValidatorOptions = {},
): (operation: Operation) => OperationValidator {
  const request = (schema: unknown) => schemas.at(schema, forClient ? 'sent' : 'request');
  const response = (schema: unknown) => schemas.at(schema, forClient ? 'received' : 'response');

  const parsesFormats = !forClient;

  return onFirstUse((operation: Operation) => {
    const groups = Map.groupBy(operation.parameters, (parameter) => parameter.in);
    const locations = [...groups].map(([location, group]) => [location, schemaOfMembers(group)]);
    const parameters = reader(request(objectOf(Object.fromEntries(locations))), { parsesFormats });
    /** Prepares to read the values, or the items, of a media type. */
    const bodyReader = (media: MediaType, schemaOf: typeof request, options?: ReadOptions) => {
      const { unit, hasBytes: files } = codecs.factsOf(media);
      const { schema } = (unit === 'items' ? media.items : undefined) ?? media;
      return reader(schemaOf(schema), { path: '/body', files, ...options });
    };
    const bodies = onFirstUse((media: MediaType) => bodyReader(media, request, { parsesFormats }));
    const replies = onFirstUse((media: MediaType) =>
      bodyReader(media, response, { onDrop: onDrop && ((name) => onDrop(operation, name)) }),
    );
    const headers = onFirstUse((declared: DeclaredResponse['headers']) =>
      reader(response(objectOf({ headers: schemaOfMembers(declared) }))),
    );

    return {
      codecs,
      parameters: (values, budget) =>
        (groups.size === 0 ? values : parameters(values, budget)) as Parameters,
      body: (media, body, budget) => bodies(media)(body, budget),
      response: (media, body, budget) => replies(media)(body, budget),
      responseHeaders: (declared, values) =>
        asObject(asObject(headers(declared.headers)({ headers: values })).headers),
    };
  });
}

function reader(
  schema: Schema,
  { path = '', files, parsesFormats, onDrop }: ReadOptions = {},
): Read {
  return (value, budget) => {
    const result = schema.check(value, { budget, files, parsesFormats, onDrop });
    if (result.violations === undefined) return result.value;
    const violations = result.violations.map((violation) => ({
      ...violation,
      path: path + violation.path,
    }));
    throw new Violations(violations, result.isComplete);
  };
}

const objectOf = (properties: Json): Json => ({ type: 'object', properties });

function schemaOfMembers(
  members: readonly Pick<Parameter, 'name' | 'required' | 'schema'>[],
): Json {
  const required = members.filter((member) => member.required).map(({ name }) => name);
  const properties = members.map(({ name, schema }) => [name, schema ?? true]);
  return { ...objectOf(Object.fromEntries(properties)), required };
}
