import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { DeclaredResponse, Document, MediaType, Operation } from 'openapi-document';
import { bodiesOf, valuesOf } from 'openapi-document/samples';
import type { AnyHandler, AnyReply, AnyRequest } from '../handlers/types.ts';
import type { OperationValidator } from '../validation/validator.ts';
import type { ErrorBody } from './failures.ts';
import { HttpError } from './http-error.ts';
import { BODILESS, checkBody, isAsyncIterable, mismatchOf, responseFor } from './reply.ts';

type Example = Partial<ReturnType<MediaType['examples']>[number]>;

/** Between two items of a stream. Milliseconds. */
const PACE = 300;

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
  const known = new Map<string, AnyReply | HttpError>();
  return async ({ body, headers, accepts }) => {
    // Items of a stream are checked as they are read.
    if (isAsyncIterable(body)) for await (const item of body) void item;
    const preferences = String(headers.prefer ?? '').matchAll(/(?:^|[,;\s])(code|example)\s*=\s*"?([^\s",;]+)"?/g);
    const { code, example } = Object.fromEntries(preferences.map(([, name, value]) => [name, value]));
    const [status, declared] = chosenResponse(operation, code);
    const media = BODILESS.has(status) ? undefined : mediaFor(declared, accepts);
    const key = [status, media?.type, example].join(' ');
    const reply = known.get(key) ?? make(status, declared, media, example);
    known.set(key, reply);
    if (reply instanceof HttpError) throw reply;
    return media?.items === undefined ? reply : { ...reply, body: paced(media, reply.body) };
  };

  /** The first body that fits, or else the first example of the document. @throws {HttpError} 400 if no example has the name. */
  function make(status: number, declared: DeclaredResponse, media?: MediaType, name?: string): AnyReply | HttpError {
    const validator = validatorOf(operation);
    const contentType = media && concrete(media.type);
    const misfits: string[] = [];
    let found: Example | undefined;
    let why: string | undefined;
    const candidates: Iterable<Example> = media === undefined ? [{}] : bodies(status, declared, media, name);
    for (const shown of candidates) {
      const { value: body, pointer } = shown;
      try {
        if (media?.items === undefined) checkBody(validator, declared, { status, contentType, body });
        else if (Array.isArray(body)) for (const item of body) validator.response(media, item);
        found = shown;
        break;
      } catch (error) {
        why = mismatchOf(error);
        if (why === undefined) throw error;
        if (pointer === undefined) continue;
        found ??= shown;
        misfits.push(`${pointer}: ${why}`);
      }
    }
    if (found === undefined) {
      return new HttpError(501, `no answer could be made: give the response an example in the document (${why})`);
    }
    const required = declared.headers.filter((header) => header.required);
    const headers = required.map((header) => {
      const [example = { value: valuesOf(root, header.schema).next().value }] = header.examples();
      return [header.name, example.value];
    });
    const reason = misfits.length > 0 ? `examples that do not fit: ${misfits.join('; ')}` : undefined;
    // The header marks an answer that no handler made.
    const marked = { ...Object.fromEntries(headers), 'X-Mock': 'true' };
    return { status, headers: marked, contentType, body: found.value, reason, mocked: true };
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
}

/** Bodies made from the schema of a media type. */
export const sampleBodies = ({ root }: Document, media: MediaType) => bodiesOf(root, concrete(media.type), media);

/** Items with a pause between them. */
async function* paced(media: MediaType, list: unknown): AsyncGenerator<unknown> {
  const text = Readable.from([Buffer.from(String(list))]);
  let pace = 0;
  for await (const item of Array.isArray(list) ? list : media.readItems(media.type, text, Infinity)) {
    await delay(pace);
    yield item;
    pace = PACE;
  }
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
function mediaFor({ media }: DeclaredResponse, accepts: AnyRequest['accepts']): MediaType | undefined {
  const inOrder = media.toSorted((a, b) => Number(b.kind === 'json') - Number(a.kind === 'json'));
  const type = accepts(...inOrder.map((candidate) => concrete(candidate.type)));
  return inOrder.find((candidate) => concrete(candidate.type) === type) ?? inOrder[0];
}

const RANGES: Readonly<Record<string, string>> = { '*/*': 'application/json', 'application/*': 'application/json' };

/** A media type that a range admits. */
const concrete = (type: string): string => RANGES[type] ?? type.replace('text/*', 'text/plain').replace('/*', '/png');
