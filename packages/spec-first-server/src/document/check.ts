import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { OpenAPISchemaValidator } from 'express-openapi-validator/dist/framework/openapi.schema.validator.js';
import { unionOf } from './discriminator.ts';
import { arrayAt, type Document, type Finding, isObject, type Json, objectAt, token } from './document.ts';
import { knownFormat } from './formats.ts';
import { type Operation, pathItemOf, securitySchemesOf } from './operations.ts';
import { eachSchema, parts, typesOf } from './schema.ts';

/** What the proof of a document found. */
export interface Proof {
  /** What makes it unservable. */
  readonly problems: readonly Finding[];
  /** What it says that is not enforced. */
  readonly notices: readonly Finding[];
}

/**
 * Proves that a document can be served as it is meant: it is OpenAPI 3.1, its schemas are JSON Schema 2020-12, its
 * operations can be told apart, and each security scheme that it asks for can be verified.
 *
 * @param verifiable the names of the security schemes that have a verifier.
 */
export function prove(document: Document, operations: readonly Operation[], verifiable: ReadonlySet<string>): Proof {
  const structure = proveStructure(document.root);
  if (structure.length > 0) return { problems: structure, notices: [] };
  const schemas = proveSchemas(document.root, operations);
  return {
    problems: [
      ...proveOperationIds(operations),
      ...provePaths(operations),
      ...proveServers(document.root),
      ...operations.flatMap((operation) => proveSecurity(document.root, operation, verifiable)),
      ...schemas.problems,
    ],
    notices: [...schemas.notices, ...noticesOf(document.root, operations)],
  };
}

function proveStructure(root: Json): Finding[] {
  const version = root.openapi;
  if (typeof version !== 'string' || !/^3\.1\.\d+/.test(version)) {
    return [{ pointer: '/openapi', message: `must be 3.1.x, the version of OpenAPI that is served; it is ${version}` }];
  }
  // The validator's parameter is typed as the document that it is there to prove.
  const { errors } = new OpenAPISchemaValidator({ version, validateApiSpec: true } as never).validate(root as never);
  const found = (errors ?? []) as readonly {
    instancePath?: string;
    message?: string;
    params?: Json;
    keyword?: string;
  }[];
  const telling = found.filter(({ keyword }) => !['if', 'oneOf', 'anyOf'].includes(keyword ?? ''));
  return (telling.length > 0 ? telling : found).slice(0, 10).map(({ instancePath = '', message = '', params }) => {
    const extra = params?.unevaluatedProperty ?? params?.additionalProperty;
    return { pointer: instancePath, message: extra === undefined ? message : `${message}: ${extra}` };
  });
}

function proveOperationIds(operations: readonly Operation[]): Finding[] {
  const seen = new Map<string, Operation>();
  return operations.flatMap((operation) => {
    if (operation.id === '')
      return [{ pointer: operation.pointer, message: 'needs an operationId, which names its handler' }];
    const first = seen.get(operation.id);
    seen.set(operation.id, first ?? operation);
    const { pointer, id } = operation;
    return first === undefined
      ? []
      : [
          {
            pointer: `${pointer}/operationId`,
            message: `operationId ${id} is also that of ${first.method} ${first.path}`,
          },
        ];
  });
}

function provePaths(operations: readonly Operation[]): Finding[] {
  const shapes = new Map<string, string>();
  return operations.flatMap((operation) => {
    const { path, pointer, parameters } = operation;
    const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name);
    const findings: Finding[] = [];
    const declared = parameters.filter((parameter) => parameter.in === 'path');
    for (const name of names) {
      if (!declared.some((parameter) => parameter.name === name)) {
        findings.push({ pointer, message: `the path has {${name}}, but no path parameter of that name is declared` });
      }
    }
    for (const parameter of declared) {
      if (!names.includes(parameter.name)) {
        findings.push({
          pointer: parameter.pointer,
          message: `path parameter ${parameter.name} is not in the path ${path}`,
        });
      }
    }
    const shape = path.replace(/\{[^{}]*\}/g, '{}');
    const other = shapes.get(shape);
    shapes.set(shape, other ?? path);
    if (other !== undefined && other !== path)
      findings.push({ pointer, message: `${path} cannot be told from ${other}` });
    if (/\}\{/.test(path)) findings.push({ pointer, message: 'two path parameters need a text between them' });
    return findings;
  });
}

function proveServers(root: Json): Finding[] {
  return arrayAt(root.servers).flatMap((server, index) => {
    const { url, variables } = objectAt(server);
    const names = [...String(url).matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name);
    return names
      .filter((name) => objectAt(variables)[name] === undefined)
      .map((name) => ({ pointer: `/servers/${index}/url`, message: `the variable {${name}} is not declared` }));
  });
}

const STYLES: Readonly<Record<string, readonly string[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
};

function proveSecurity(root: Json, operation: Operation, verifiable: ReadonlySet<string>): Finding[] {
  const schemes = securitySchemesOf(root);
  return operation.security.flatMap((all) =>
    Object.keys(all).flatMap((name) => {
      const { pointer } = operation;
      if (schemes[name] === undefined) {
        return [{ pointer, message: `security scheme ${name} is not in components.securitySchemes` }];
      }
      const { type, scheme } = objectAt(schemes[name]);
      return verifiable.has(name)
        ? []
        : [
            {
              pointer: `/components/securitySchemes/${token(name)}`,
              message: `nothing verifies credentials of ${[type, scheme].filter(Boolean).join(' ')}: give createApp a verifier for ${name}`,
            },
          ];
    }),
  );
}

/** What `$schema` may say of a schema in OpenAPI 3.1 (§4.8.24.5). */
const DIALECTS = new Set([
  'https://spec.openapis.org/oas/3.1/dialect/base',
  'https://json-schema.org/draft/2020-12/schema',
]);

const INTEGER_BOUNDS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'const', 'enum', 'default'],
];

/** Whether a bound of integers cannot be told from its neighbours. Bounds at the ends of int64 and beyond hold anyway. */
const isInexact = (value: number): boolean =>
  !Number.isSafeInteger(value) && Number.isInteger(value) && Math.abs(value) < 2 ** 63;

const hasDefaults = (root: Json, alternatives: readonly unknown[]): boolean =>
  alternatives
    .flatMap((alternative) => parts(root, alternative))
    .flatMap(({ properties }) => Object.values(objectAt(properties)))
    .some((property) => parts(root, property).some((part) => Object.hasOwn(part, 'default')));

function proveSchemas(root: Json, operations: readonly Operation[]): Proof {
  const ajv = new Ajv2020({ strict: false, logger: false });
  addFormats.default(ajv);
  const problems: Finding[] = [];
  const notices: Finding[] = [];
  const unknown = new Set<string>();
  const seen = new Set<unknown>();

  const inspect = (schema: Json, pointer: string) => {
    for (const keyword of ['$dynamicRef', '$recursiveRef']) {
      if (schema[keyword] !== undefined) problems.push({ pointer, message: `${keyword} is not supported: use $ref` });
    }
    if (schema.$ref === '#') {
      problems.push({
        pointer,
        message: '$ref: "#" is the whole OpenAPI document: name the schema, as #/components/schemas/…',
      });
    }
    if (schema.$schema !== undefined && !DIALECTS.has(String(schema.$schema))) {
      problems.push({
        pointer: `${pointer}/$schema`,
        message: `must be JSON Schema 2020-12, as all of the document is`,
      });
    }
    if (schema.nullable !== undefined) {
      notices.push({ pointer, message: 'nullable says nothing in OpenAPI 3.1: use type: [..., "null"]' });
    }
    if (Array.isArray(schema.enum) && schema.enum.length === 0)
      problems.push({ pointer, message: 'enum must not be empty' });
    for (const alternatives of [arrayAt(schema.anyOf), arrayAt(schema.oneOf)]) {
      if (hasDefaults(root, alternatives) && unionOf(root, alternatives, schema.discriminator) === undefined) {
        notices.push({ pointer, message: 'defaults inside anyOf and oneOf are not filled in' });
      }
    }
    const { format, pattern } = schema;
    if (typeof format === 'string' && !knownFormat(format) && !unknown.has(format)) {
      unknown.add(format);
      notices.push({ pointer, message: `format ${format} is not known and not checked` });
    }
    for (const expression of [pattern, ...Object.keys(objectAt(schema.patternProperties))]) {
      if (typeof expression !== 'string') continue;
      try {
        new RegExp(expression, 'u');
      } catch {
        problems.push({ pointer, message: `${expression} is not a regular expression (ECMA-262, flag u)` });
      }
    }
    for (const key of INTEGER_BOUNDS) {
      const values = (Array.isArray(schema[key]) ? schema[key] : [schema[key]]) as unknown[];
      const beyond = values.some((value) => typeof value === 'number' && isInexact(value));
      if (beyond && typesOf(root, schema).has('integer')) {
        notices.push({ pointer, message: `${key} is checked only to the nearest double beyond ±(2^53-1)` });
      }
    }
  };
  const check = (schema: unknown, pointer: string) => {
    if (schema === undefined || seen.has(schema)) return;
    seen.add(schema);
    const before = problems.length;
    // Ajv would look the dialect up, which is no schema that it knows.
    if (!ajv.validateSchema(isObject(schema) ? { ...schema, $schema: undefined } : (schema as Json))) {
      const [first] = (ajv.errors ?? []).filter(({ keyword }) => !['anyOf', 'oneOf', 'if'].includes(keyword));
      problems.push({
        pointer: `${pointer}${first?.instancePath ?? ''}`,
        message: `${first?.message ?? 'is no schema'} (JSON Schema 2020-12)`,
      });
    }
    if (problems.length === before) eachSchema(schema, pointer, inspect);
  };

  for (const [name, schema] of Object.entries(objectAt(objectAt(root.components).schemas))) {
    check(schema, `/components/schemas/${token(name)}`);
  }
  for (const operation of operations) {
    for (const { schema, pointer, in: where, style, name } of operation.parameters) {
      check(schema, `${pointer}/schema`);
      if (!STYLES[where]?.includes(style))
        problems.push({ pointer, message: `style ${style} is not one for a ${where} parameter (${name})` });
    }
    for (const { schema, pointer } of operation.requestBody?.media ?? []) check(schema, `${pointer}/schema`);
    for (const response of operation.responses) {
      for (const { schema, pointer } of response.media) check(schema, `${pointer}/schema`);
      for (const { schema, pointer } of response.headers) check(schema, `${pointer}/schema`);
    }
  }
  return { problems, notices };
}

function noticesOf(root: Json, operations: readonly Operation[]): Finding[] {
  const notices: Finding[] = [];
  for (const [path, value] of Object.entries(objectAt(root.paths))) {
    const item = pathItemOf(root, value);
    const pointer = `/paths/${token(path)}`;
    const own = [['', item], ...Object.entries(item)] as const;
    for (const [key, holder] of own) {
      if (arrayAt(objectAt(holder).servers).length > 0) {
        const at = key === '' ? pointer : `${pointer}/${key}`;
        notices.push({
          pointer: `${at}/servers`,
          message: 'servers of a path or an operation are not served: those of the document are',
        });
      }
    }
  }
  for (const { id, pointer, parameters, requestBody, responses } of operations) {
    if (responses.length === 0) {
      notices.push({
        pointer,
        message: `operation ${id} declares no response: every answer of its handler becomes a 500`,
      });
    }
    for (const { kind, type, pointer, constrained, source } of requestBody?.media ?? []) {
      if (source.encoding !== undefined) {
        notices.push({ pointer: `${pointer}/encoding`, message: 'encoding tells files from texts and is not checked' });
      }
      if (kind === 'stream' && constrained) notices.push({ pointer, message: passes(type) });
    }
    for (const { kind, type, pointer, constrained } of responses.flatMap(({ media }) => media)) {
      const unchecked = !['json', 'text'].includes(kind) && !type.includes('*');
      if (unchecked && constrained) notices.push({ pointer, message: passes(type) });
    }
    for (const { pointer, empty } of parameters) {
      if (empty)
        notices.push({ pointer, message: 'allowEmptyValue is not granted: an empty value is one like any other' });
    }
  }
  return notices;
}

const passes = (type: string): string =>
  `bodies of ${type} pass as they are: their media type is checked, not their schema`;
