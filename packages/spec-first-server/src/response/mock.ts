import { sample } from 'openapi-sampler';
import { type Document, follow, isObject, type Json, objectAt } from '../document/document.ts';
import type { AnyHandler, AnyReply, AnyRequest } from '../document/handler-types.ts';
import type { MediaType } from '../document/media-types.ts';
import { type DeclaredResponse, declaredFor, type Operation } from '../document/operations.ts';
import { HttpError, InvalidReply } from './http-error.ts';
import { BODILESS } from './reply.ts';

/** Marks an answer that no handler made. */
const MOCK_HEADER = 'X-Mock';

/** Whether a reply is what the document declares. @throws {InvalidReply} */
export type CheckReply = (operation: Operation, reply: AnyReply) => Promise<unknown>;

/**
 * A handler that answers with what the document shows: an example of the response, or a value made from its schema. The
 * client may choose another declared response with `Prefer: code=404`, and a named example with `Prefer: example=name`
 * (RFC 7240). What cannot be made as the document declares it is a failure that says so.
 */
export function mock({ root }: Document, operation: Operation, check: CheckReply): AnyHandler {
  return async (request) => {
    const preferred = preferences(request.headers?.prefer);
    const [status, response] = responseFor(operation, preferred.get('code'));
    const media = BODILESS.has(status) ? undefined : mediaFor(response, request);
    const reply = {
      status,
      headers: {
        ...sampleHeaders(root, response),
        [MOCK_HEADER]: 'true',
        ...(preferred.size > 0 && { 'Preference-Applied': [...preferred].map((pair) => pair.join('=')).join(', ') }),
      },
      ...(media !== undefined && {
        contentType: concrete(media.type),
        body: sampleBody(root, media, preferred.get('example')),
      }),
    };
    try {
      await check(operation, reply);
    } catch (error) {
      if (!(error instanceof InvalidReply)) throw error;
      throw new HttpError(
        501,
        `no answer could be made: give the response an example in the document (${error.message})`,
      );
    }
    return reply;
  };
}

function preferences(header: string | string[] | undefined): Map<string, string> {
  const known = String(header ?? '').matchAll(/(?:^|[,;\s])(code|example)\s*=\s*"?([^\s",;]+)"?/g);
  return new Map([...known].map(([, name = '', value = '']) => [name, value]));
}

function responseFor(operation: Operation, code: string | undefined): [number, DeclaredResponse] {
  const status = Number(code ?? firstStatus(operation));
  const response = declaredFor(operation, status);
  if (response !== undefined && Number.isInteger(status) && status >= 200 && status <= 599) return [status, response];
  const keys = operation.responses.map(({ key }) => key).join(', ');
  if (keys === '') throw new HttpError(501, `${operation.id} declares no response to show`);
  throw new HttpError(400, `/header/Prefer code must be one of the declared responses: ${keys}`);
}

/** The status of the first success declared, or of the first response. */
function firstStatus({ responses }: Operation): number {
  const key = (responses.find((response) => /^2/.test(response.key)) ?? responses[0])?.key ?? '200';
  return key === 'default' ? 200 : Number(key.replace(/XX$/i, '00'));
}

/** What the client accepts; of what it accepts alike, JSON, which alone is made from a schema. */
function mediaFor({ media }: DeclaredResponse, { accepts }: AnyRequest): MediaType | undefined {
  const inOrder = [...media.filter(({ kind }) => kind === 'json'), ...media.filter(({ kind }) => kind !== 'json')];
  const type = accepts(...inOrder.map((candidate) => concrete(candidate.type)));
  return inOrder.find((candidate) => concrete(candidate.type) === type) ?? inOrder[0];
}

const RANGES: Readonly<Record<string, string>> = { '*/*': 'application/json', 'application/*': 'application/json' };

/** A media type that a range admits. */
const concrete = (type: string): string => RANGES[type] ?? type.replace('text/*', 'text/plain').replace('/*', '/png');

function sampleBody(root: Json, media: MediaType, name: string | undefined): unknown {
  const examples = objectAt(media.source.examples);
  if (name !== undefined && !Object.hasOwn(examples, name)) {
    const names = Object.keys(examples).join(', ') || 'none';
    throw new HttpError(400, `/header/Prefer example must be one of the declared examples: ${names}`);
  }
  const example = exampleOf(root, media.source, name);
  if (example !== undefined) return example;
  const value = sampleOf(root, media.schema);
  return concrete(media.type).endsWith('json') || media.kind === 'text' || typeof value === 'string' ? value : '';
}

function sampleHeaders(root: Json, { headers }: DeclaredResponse): Json {
  const required = headers.filter((header) => header.required);
  return Object.fromEntries(
    required.map(({ name, schema, source }) => [name, exampleOf(root, source) ?? sampleOf(root, schema)]),
  );
}

/** An example that the document gives (OpenAPI 3.1 §4.8.14.1, §4.8.21): the one of a name, or else the first. */
function exampleOf(root: Json, source: Json, name?: string): unknown {
  const examples = objectAt(source.examples);
  return follow(root, name === undefined ? Object.values(examples)[0] : examples[name])?.value ?? source.example;
}

const sampleOf = (root: Json, schema: unknown): unknown =>
  isObject(schema) ? sample(schema, { skipWriteOnly: true, quiet: true }, root) : {};
