import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { DeclaredResponse, Document, Json, MediaType, Operation } from 'openapi-document';
import { bodiesOf, valuesOf } from 'openapi-document/samples';
import type { AnyHandler, AnyReply, AnyRequest } from '../handlers/types.ts';
import type { OperationValidator } from '../validation/validator.ts';
import type { ErrorBody, Samples } from './failures.ts';
import { HttpError } from './http-error.ts';
import { BODILESS, checkBody, mismatchOf, responseFor } from './reply.ts';

type Example = Partial<ReturnType<MediaType['examples']>[number]>;

/** Between two items of a stream. Milliseconds. */
const PACE = 300;

const isStream = (body: unknown): body is AsyncIterable<unknown> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;

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
  // An answer takes a while to make, and is the same each time.
  const known = new Map<string, ReturnType<typeof make>>();
  return async (request): Promise<AnyReply> => {
    // Items of a stream are checked as they are read.
    if (isStream(request.body)) for await (const item of request.body) void item;
    const preferred = preferences(request.headers.prefer);
    const [status, declared] = chosenResponse(operation, preferred.get('code'));
    const media = BODILESS.has(status) ? undefined : mediaFor(declared, request);
    const key = [status, media?.type, preferred.get('example')].join(' ');
    const made = known.get(key) ?? make(status, declared, media, preferred.get('example'));
    known.set(key, made);
    if (made instanceof HttpError) throw made;
    // The first one marks an answer that no handler made.
    const given = {
      'X-Mock': 'true',
      ...(preferred.size > 0 && { 'Preference-Applied': [...preferred].map((pair) => pair.join('=')).join(', ') }),
    };
    const body = media?.items === undefined ? made.body : paced(media, made.body);
    const type = media && { contentType: concrete(media.type), body };
    return { status, headers: { ...made.headers, ...given }, ...type, reason: made.reason, mocked: true };
  };

  /** The first body that fits, with headers, and which examples do not fit. @throws {HttpError} 400 if no example has the name. */
  function make(status: number, declared: DeclaredResponse, media: MediaType | undefined, name?: string) {
    const validator = validatorOf(operation);
    const type = media && { contentType: concrete(media.type) };
    const shown = media === undefined ? [{ value: undefined }] : bodies(status, declared, media, name);
    const { found, wrong } = firstFitting(shown, (body) => {
      if (media?.items === undefined) checkBody(validator, declared, { status, ...type, body });
      else if (Array.isArray(body)) for (const item of body) validator.response(media, item);
    });
    if (found === undefined) {
      const help = 'give the response an example in the document';
      return new HttpError(501, `no answer could be made: ${help} (${wrong.at(-1)})`);
    }
    const misfits = wrong.filter((each) => each.startsWith('#'));
    const reason = misfits.length > 0 ? `examples that do not fit: ${misfits.join('; ')}` : undefined;
    return { headers: headersOf(declared), body: found.value, reason };
  }

  /** What may be shown, best first. A failure of a range of statuses says which status it is. */
  function* bodies(status: number, { key }: DeclaredResponse, media: MediaType, name?: string): Generator<Example> {
    const { items, type: mediaType, schema } = media;
    const examples = media.examples();
    if (name !== undefined) {
      const named = examples.filter((example) => example.name === name);
      const names = examples.flatMap((example) => example.name ?? []).join(', ') || 'none';
      if (named.length > 0) return yield* named;
      throw new HttpError(400, `/header/Prefer example must be one of the declared examples: ${names}`);
    }
    const declared = { operationId: operation.id, mediaType, schema };
    const failure =
      status < 400 || items ? [] : [{ value: errorBody.make({ status, message: 'a mocked failure' }, declared) }];
    yield* key === String(status) ? [...examples, ...failure] : [...failure, ...examples];
    if (items === undefined) for (const value of bodiesOf(root, concrete(mediaType), media)) yield { value };
    else for (const value of valuesOf(root, items.schema)) yield { value: [value] };
  }

  /** The headers that a response must have: an example of each, or a value of its schema. */
  function headersOf({ headers }: DeclaredResponse): Json {
    const required = headers.filter((header) => header.required);
    return Object.fromEntries(
      required.map((header) => {
        const [example] = header.examples();
        return [header.name, example === undefined ? valuesOf(root, header.schema).next().value : example.value];
      }),
    );
  }
}

/** Bodies made from the schema of a media type. */
export const sampleBodies =
  ({ root }: Document): Samples =>
  (type, media) =>
    bodiesOf(root, type, media);

/** Items with a pause between them. */
async function* paced(media: MediaType, list: unknown): AsyncGenerator<unknown> {
  let pace = 0;
  const text = Readable.from([Buffer.from(String(list))]);
  for await (const item of Array.isArray(list) ? list : media.readItems(media.type, text, Infinity)) {
    await delay(pace);
    yield item;
    pace = PACE;
  }
}

/**
 * The first candidate that passes a check, or else the first example of the document. `wrong` says what the others break,
 * after the place of an example.
 */
function firstFitting(candidates: Iterable<Example>, check: (value: unknown) => void) {
  let example: Example | undefined;
  const wrong: string[] = [];
  for (const candidate of candidates) {
    const { value, pointer } = candidate;
    try {
      check(value);
      return { found: candidate, wrong };
    } catch (error) {
      const mismatch = mismatchOf(error);
      if (mismatch === undefined) throw error;
      if (pointer !== undefined) example ??= candidate;
      wrong.push(pointer === undefined ? mismatch : `${pointer}: ${mismatch}`);
    }
  }
  return { found: example, wrong };
}

function preferences(header: string | string[] | undefined): Map<string, string> {
  const known = String(header ?? '').matchAll(/(?:^|[,;\s])(code|example)\s*=\s*"?([^\s",;]+)"?/g);
  return new Map([...known].map(([, name = '', value = '']) => [name, value]));
}

function chosenResponse(operation: Operation, code: string | undefined): [number, DeclaredResponse] {
  const { responses } = operation;
  // The first success declared, or the first response.
  const first = (responses.find(({ key }) => /^2/.test(key)) ?? responses[0])?.key.replace(/XX$/i, '00') ?? '200';
  const status = Number(code ?? first.replace('default', '200'));
  const response = responseFor(operation, status);
  if (response !== undefined && Number.isInteger(status) && status >= 200 && status <= 599) return [status, response];
  const keys = responses.map(({ key }) => key).join(', ');
  throw new HttpError(400, `/header/Prefer code must be one of the declared responses: ${keys}`);
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
