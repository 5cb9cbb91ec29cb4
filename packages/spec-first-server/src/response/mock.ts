import type { Document, Json, MediaType } from 'openapi-document';
import { type DeclaredResponse, examplesOf, type Operation } from 'openapi-document';
import { bodiesOf, valuesOf } from 'openapi-document/samples';
import type { AnyHandler, AnyReply, AnyRequest } from '../handlers/types.ts';
import { TookTooLong, withinBudget } from '../validation/budget.ts';
import type { OperationValidator } from '../validation/validator.ts';
import type { Samples } from './failure-reply.ts';
import { HttpError } from './http-error.ts';
import { listOf, paced } from './mock-items.ts';
import type { ErrorBody } from './problem.ts';
import { BODILESS, checkHeaders, checkReply, mismatchOf, responseFor } from './reply.ts';

type Example<T = unknown> = { readonly value: T; readonly name?: string; readonly pointer?: string | undefined };

/** A mock's answer. It takes a while to make, and is the same each time. */
interface Made {
  readonly headers: Json;
  readonly body: unknown;
  readonly reason: string | undefined;
}

/** How long values are made for one answer, in milliseconds. */
const BUDGET = 2000;

export interface MockOptions {
  readonly validatorOf: (operation: Operation) => OperationValidator;
  readonly errorBody: ErrorBody;
}

/**
 * A handler that answers with what the document shows: an example of the response, or a value made from its schema. The
 * client may choose another declared response with `Prefer: code=404`, and a named example with `Prefer: example=name`
 * (RFC 7240). The log names examples that do not fit their schema.
 */
export function mock({ root }: Document, operation: Operation, { validatorOf, errorBody }: MockOptions): AnyHandler {
  const known = new Map<string, Made | HttpError>();
  return (request): AnyReply => {
    const preferred = preferences(request.headers.prefer);
    const [status, declared] = chosenResponse(operation, preferred.get('code'));
    const media = BODILESS.has(status) ? undefined : mediaFor(declared, request);
    // The first one marks an answer that no handler made.
    const given = {
      'X-Mock': 'true',
      ...(preferred.size > 0 && { 'Preference-Applied': [...preferred].map((pair) => pair.join('=')).join(', ') }),
    };
    const key = [status, media?.type, preferred.get('example')].join(' ');
    const made = known.get(key) ?? make(status, declared, media, preferred.get('example'));
    // A name that is no example is not kept: clients can make up any.
    if (!(made instanceof HttpError && made.status === 400)) known.set(key, made);
    if (made instanceof HttpError) throw made;
    const { headers, body, reason } = made;
    return {
      status,
      headers: { ...headers, ...given },
      ...(media !== undefined && { contentType: concrete(media.type), body: media.items ? paced(media, body) : body }),
      reason,
      mocked: true,
    };
  };

  function make(...of: Parameters<typeof firstOf>): Made | HttpError {
    try {
      return firstOf(...of);
    } catch (error) {
      if (error instanceof HttpError) return error;
      throw error;
    }
  }

  /** The first headers and the first body that fit. */
  function firstOf(status: number, declared: DeclaredResponse, media: MediaType | undefined, name?: string): Made {
    const validator = validatorOf(operation);
    const wrong: string[] = [];
    const headers = firstFitting(headerSets(declared), wrong, (set) => checkHeaders(validator, declared, set));
    const type = media && { contentType: concrete(media.type) };
    const check = (body: unknown) => {
      if (media?.items === undefined) checkReply(operation, validator, { status, headers, ...type, body });
      else if (Array.isArray(body)) for (const item of body) validator.response(media, item);
    };
    const shown = media === undefined ? [{ value: undefined }] : bodies(status, declared, media, name);
    const body = firstFitting(shown, wrong, check);
    const reason = wrong.length > 0 ? `examples that do not fit: ${wrong.join('; ')}` : undefined;
    return { headers, body, reason };
  }

  /** What may be shown, best first. A failure of a range of statuses says which status it is. */
  function* bodies(status: number, { key }: DeclaredResponse, media: MediaType, name?: string): Generator<Example> {
    const all = examplesOf(root, media);
    const examples =
      media.items === undefined ? all : all.map((each) => ({ ...each, value: listOf(media, each.value) }));
    if (name !== undefined) {
      const named = examples.filter((example) => example.name === name);
      const names = examples.flatMap((example) => example.name ?? []).join(', ') || 'none';
      if (named.length > 0) return yield* named;
      throw new HttpError(400, `/header/Prefer example must be one of the declared examples: ${names}`);
    }
    const declared = { operationId: operation.id, mediaType: media.type, schema: media.schema };
    const failure =
      status < 400 || media.items ? [] : [{ value: errorBody.make({ status, message: 'a mocked failure' }, declared) }];
    yield* key === String(status) ? [...examples, ...failure] : [...failure, ...examples];
    if (media.items === undefined) for (const value of bodiesOf(root, concrete(media.type), media)) yield { value };
    else for (const value of valuesOf(root, media.items.schema)) yield { value: [value] };
  }

  /** Values for the headers that a response must have: the examples, then values of the schemas. */
  function* headerSets({ headers }: DeclaredResponse): Generator<Example<Json>> {
    const required = headers.filter((header) => header.required);
    if (required.length === 0) return yield { value: {} };
    const columns = required.map(function* (header): Generator<Example> {
      yield* examplesOf(root, header);
      for (const value of valuesOf(root, header.schema)) yield { value };
    });
    let cells: Example[] = [];
    for (;;) {
      const next = columns.map((column) => column.next());
      if (next.every(({ done }) => done)) return;
      cells = next.map((cell, index) => (cell.done ? (cells[index] ?? { value: '' }) : cell.value));
      const value = Object.fromEntries(cells.map((cell, index) => [required[index]?.name ?? '', cell.value]));
      yield { value, pointer: cells.flatMap(({ pointer }) => pointer ?? []).join(', ') || undefined };
    }
  }
}

/** Bodies made from the schema of a media type. */
export const sampleBodies =
  ({ root }: Document): Samples =>
  (media) => {
    const contentType = concrete(media.type);
    return { contentType, bodies: bodiesOf(root, contentType, media) };
  };

/**
 * The first candidate that passes a check, or else the first example of the document. `wrong` gets the examples that do not.
 *
 * @throws {HttpError} if there is none.
 */
function firstFitting<T>(candidates: Iterable<Example<T>>, wrong: string[], check: (value: T) => void): T {
  let found: { readonly value: T } | undefined;
  let example: typeof found;
  let reason = 'to make a value takes too long';
  const find = (): void => {
    for (const { value, pointer } of candidates) {
      try {
        check(value);
        found = { value };
        return;
      } catch (error) {
        const mismatch = mismatchOf(error);
        if (mismatch === undefined) throw error;
        reason = mismatch;
        if (pointer === undefined) continue;
        example ??= { value };
        wrong.push(`${pointer}: ${mismatch}`);
      }
    }
  };
  try {
    withinBudget(find, BUDGET, 1);
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
  }
  found ??= example;
  if (found !== undefined) return found.value;
  throw new HttpError(501, `no answer could be made: give the response an example in the document (${reason})`);
}

function preferences(header: string | string[] | undefined): Map<string, string> {
  const known = String(header ?? '').matchAll(/(?:^|[,;\s])(code|example)\s*=\s*"?([^\s",;]+)"?/g);
  return new Map([...known].map(([, name = '', value = '']) => [name, value]));
}

function chosenResponse(operation: Operation, code: string | undefined): [number, DeclaredResponse] {
  const status = Number(code ?? firstStatus(operation));
  const response = responseFor(operation, status);
  if (response !== undefined && Number.isInteger(status) && status >= 200 && status <= 599) return [status, response];
  const keys = operation.responses.map(({ key }) => key).join(', ');
  throw new HttpError(400, `/header/Prefer code must be one of the declared responses: ${keys}`);
}

/** The status of the first success declared, or of the first response. */
function firstStatus({ responses }: Operation): number {
  const key = (responses.find((response) => /^2/.test(response.key)) ?? responses[0])?.key ?? '200';
  return key === 'default' ? 200 : Number(key.replace(/XX$/i, '00'));
}

/** What the client accepts. Prefers JSON: the only type made from a schema. */
function mediaFor({ media }: DeclaredResponse, { accepts }: AnyRequest): MediaType | undefined {
  const inOrder = [...media.filter(({ kind }) => kind === 'json'), ...media.filter(({ kind }) => kind !== 'json')];
  const type = accepts(...inOrder.map((candidate) => concrete(candidate.type)));
  return inOrder.find((candidate) => concrete(candidate.type) === type) ?? inOrder[0];
}

const RANGES: Readonly<Record<string, string>> = { '*/*': 'application/json', 'application/*': 'application/json' };

/** A media type that a range admits. */
const concrete = (type: string): string => RANGES[type] ?? type.replace('text/*', 'text/plain').replace('/*', '/png');
