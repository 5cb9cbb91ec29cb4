import {
  asObject,
  type Budget,
  type CheckResult,
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

interface ValidatorOptions {
  /** The codecs of the service. By default those of openapi-document. */
  readonly codecs?: Codecs;
  /** Returns the path of a violation of a reply, which is logged. By default unchanged. */
  readonly shownPath?: (path: string) => string;
  /** Called with the name of each undeclared or `writeOnly` member that is removed from a reply. */
  readonly onDrop?: ((operation: Operation, name: string) => void) | undefined;
}

/** Returns a value as its schema reads it. @throws {Violations} */
export type Check = (value: unknown, budget?: Budget) => unknown;

/**
 * Validates the requests and replies of one operation. A check that needs more steps than its
 * budget has is a violation.
 */
export interface OperationValidator {
  /** The codecs of the service. */
  readonly codecs: Codecs;
  /** Returns the parameters with defaults filled in, or their violations. */
  parameters(values: Parameters, budget?: Budget): CheckResult;
  /** Returns the check of a body, or of an item of one. It fills in defaults. */
  body(media: MediaType): Check;
  /**
   * Returns the check of the body of a reply, or of an item of one. It returns the body as it is
   * written: without undeclared and `writeOnly` members.
   */
  response(media: MediaType): Check;
  /**
   * Returns the declared headers of a reply, by name in lower case, as values of JSON. Required
   * ones may be missing, since the server may set them.
   *
   * @throws {Violations} if they do not match the response.
   */
  responseHeaders(response: DeclaredResponse, headers: Json): Json;
}

interface CheckOptions {
  /** The start of the paths of violations, such as `/body`. */
  readonly path?: string;
  /** True if strings may be files. */
  readonly files?: boolean | undefined;
  /** True if texts of typed formats become their values. */
  readonly parsesFormats?: boolean;
  readonly onDrop?: ((name: string) => void) | undefined;
  readonly shownPath?: ((path: string) => string) | undefined;
}

/** Returns a function that creates the validator of an operation of a document. */
export function createValidators(
  schemas: Schemas,
  { codecs = new Codecs(), shownPath, onDrop }: ValidatorOptions = {},
): (operation: Operation) => OperationValidator {
  const request = (schema: unknown) => schemas.at(schema, 'request');
  const response = (schema: unknown) => schemas.at(schema, 'response');
  const parsesFormats = true;

  return onFirstUse((operation: Operation) => {
    const groups = Map.groupBy(operation.parameters, (parameter) => parameter.in);
    const locations = [...groups].map(([location, group]) => [location, schemaOfMembers(group)]);
    const parameters = request(objectOf(Object.fromEntries(locations)));
    /** Prepares to check the values, or the items, of a media type. */
    const checkOf = (media: MediaType, schemaOf: typeof request, options?: CheckOptions) => {
      const { unit, hasBytes: files } = codecs.factsOf(media);
      const { schema } = (unit === 'items' ? media.items : undefined) ?? media;
      return checkBy(schemaOf(schema), { path: '/body', files, ...options });
    };
    const headers = onFirstUse((declared: DeclaredResponse['headers']) =>
      checkBy(response(objectOf({ headers: schemaOfMembers(declared.map(optional)) }))),
    );

    return {
      codecs,
      parameters: (values, budget) => parameters.check(values, { budget, parsesFormats }),
      body: onFirstUse((media) => checkOf(media, request, { parsesFormats })),
      response: onFirstUse((media) =>
        checkOf(media, response, {
          shownPath,
          onDrop: onDrop && ((name) => onDrop(operation, name)),
        }),
      ),
      responseHeaders: (declared, values) =>
        asObject(asObject(headers(declared.headers)({ headers: values })).headers),
    };
  });
}

const optional = (header: Parameter) => ({ ...header, required: false });

function checkBy(
  schema: Schema,
  { path = '', shownPath = String, files, parsesFormats, onDrop }: CheckOptions = {},
): Check {
  return (value, budget) => {
    const result = schema.check(value, { budget, files, parsesFormats, onDrop });
    if (result.violations === undefined) return result.value;
    const violations = result.violations.map((violation) => ({
      ...violation,
      path: shownPath(path + violation.path),
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
