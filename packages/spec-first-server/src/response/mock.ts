import { sample } from 'openapi-sampler';
import { type Document, isObject, type Json } from '../document/document.ts';
import type { AnyHandler, AnyRequest } from '../document/handler-types.ts';
import type { MediaType } from '../document/media-types.ts';
import { type DeclaredResponse, declaredFor, type Operation } from '../document/operations.ts';
import type { OperationValidator } from '../validation/validator.ts';
import { examplesOf } from './examples.ts';
import { HttpError, InvalidReply } from './http-error.ts';
import type { ErrorBody } from './problem.ts';
import { BODILESS, checkReply } from './reply.ts';

/** Marks an answer that no handler made. */
const MOCK_HEADER = 'X-Mock';

export interface MockOptions {
  readonly validatorOf: (operation: Operation) => OperationValidator;
  readonly errorBody: ErrorBody;
}

/**
 * A handler that answers with what the document shows: an example of the response, or a value made from its schema. The
 * client may choose another declared response with `Prefer: code=404`, and a named example with `Prefer: example=name`
 * (RFC 7240). Where no answer is as the document declares it, the mock says so.
 */
export function mock({ root }: Document, operation: Operation, { validatorOf, errorBody }: MockOptions): AnyHandler {
  return (request) => {
    const preferred = preferences(request.headers?.prefer);
    const [status, response] = responseFor(operation, preferred.get('code'));
    const media = BODILESS.has(status) ? undefined : mediaFor(response, request);
    const headers = {
      ...sampleHeaders(root, response),
      [MOCK_HEADER]: 'true',
      ...(preferred.size > 0 && { 'Preference-Applied': [...preferred].map((pair) => pair.join('=')).join(', ') }),
    };
    const validator = validatorOf(operation);
    let mismatch: unknown;
    for (const body of media === undefined ? [undefined] : bodies(status, response, media, preferred.get('example'))) {
      const reply = { status, headers, ...(media !== undefined && { contentType: concrete(media.type), body }) };
      try {
        checkReply(operation, validator, reply);
        return reply;
      } catch (error) {
        if (!(error instanceof InvalidReply)) throw error;
        mismatch ??= error.message;
      }
    }
    throw new HttpError(501, `no answer could be made: give the response an example in the document (${mismatch})`);
  };

  /** What may be shown, best first. A failure of a range of statuses says which status it is. */
  function* bodies(status: number, { key }: DeclaredResponse, media: MediaType, name: string | undefined) {
    const examples = examplesOf(root, media.source);
    if (name !== undefined) {
      const names = [...examples.keys()].filter(Boolean).join(', ') || 'none';
      if (!examples.has(name)) {
        throw new HttpError(400, `/header/Prefer example must be one of the declared examples: ${names}`);
      }
      yield examples.get(name);
      return;
    }
    const declared = { operationId: operation.id, mediaType: media.type, schema: media.schema };
    const failure = status < 400 ? [] : [errorBody.make({ status, message: 'a mocked failure' }, declared)];
    yield* key === String(status) ? [...examples.values(), ...failure] : [...failure, ...examples.values()];
    yield sampleBody(root, media);
  }
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

function sampleBody(root: Json, media: MediaType): unknown {
  const value = sampleOf(root, media.schema);
  return concrete(media.type).endsWith('json') || media.kind === 'text' || typeof value === 'string' ? value : '';
}

function sampleHeaders(root: Json, { headers }: DeclaredResponse): Json {
  const required = headers.filter((header) => header.required);
  return Object.fromEntries(
    required.map(({ name, schema, source }) => [
      name,
      [...examplesOf(root, source).values()][0] ?? sampleOf(root, schema),
    ]),
  );
}

const sampleOf = (root: Json, schema: unknown): unknown =>
  isObject(schema) ? sample(schema, { skipWriteOnly: true, quiet: true }, root) : {};
