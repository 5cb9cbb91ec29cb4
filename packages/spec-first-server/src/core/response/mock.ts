import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { DeclaredResponse, Document, MediaType, Operation } from 'openapi-document';
import { bodiesOf, valuesOf } from 'openapi-document/samples';
import type { AnyHandler, AnyReply, AnyRequest } from '../handlers/types.ts';
import type { OperationValidator } from '../validation/validator.ts';
import { HttpError } from './http-error.ts';
import { type ErrorBody, makeBody } from './problem.ts';
import { BODILESS_STATUSES, checkBody, isAsyncIterable, mismatchOf, responseFor } from './reply.ts';

type Example = Partial<ReturnType<MediaType['examples']>[number]>;

/** The time between two items of a stream, in milliseconds. */
const ITEM_INTERVAL = 300;

export interface MockOptions {
  readonly validatorOf: (operation: Operation) => OperationValidator;
  readonly errorBody: ErrorBody;
}

/**
 * Creates a handler that answers with an example of the declared response, or with a value
 * generated from its schema. The client may choose another declared response with `Prefer:
 * code=404`, and a named example with `Prefer: example=name` (RFC 7240). Examples that do not match
 * their schema are logged.
 */
export function mock(
  { root }: Document,
  operation: Operation,
  { validatorOf, errorBody }: MockOptions,
): AnyHandler {
  // Answers are cached: generating one is slow, and the result is always the same.
  const replies = new Map<string, AnyReply | HttpError>();
  return async ({ body, headers, accepts }) => {
    // Reads all items, so that an invalid one is rejected.
    if (isAsyncIterable(body)) for await (const item of body) void item;
    const preferences = String(headers.prefer ?? '').matchAll(
      /(?:^|[,;\s])(code|example)\s*=\s*"?([^\s",;]+)"?/g,
    );
    const { code, example } = Object.fromEntries(
      preferences.map(([, name, value]) => [name, value]),
    );
    const [status, declared] = chosenResponse(operation, code);
    const media = BODILESS_STATUSES.has(status) ? undefined : mediaFor(declared, accepts);
    const key = [status, media?.type, media && example].join(' ');
    const reply = replies.get(key) ?? createReply(status, declared, media, example);
    replies.set(key, reply);
    if (reply instanceof HttpError) throw reply;
    return media?.items === undefined ? reply : { ...reply, body: paced(media, reply.body) };
  };

  /**
   * Returns a reply with the first body that matches its schema, or else with the first example of
   * the document. Returns a 501 if there is neither.
   *
   * @throws {HttpError} 400 if no example has the name.
   */
  function createReply(
    status: number,
    declared: DeclaredResponse,
    media?: MediaType,
    name?: string,
  ): AnyReply | HttpError {
    const validator = validatorOf(operation);
    const contentType = media && concrete(media.type);
    const mismatches: string[] = [];
    let chosen: Example | undefined;
    let firstMismatch: string | undefined;
    const candidates: Iterable<Example> =
      media === undefined ? [{}] : bodies(status, declared, media, name);
    for (const candidate of candidates) {
      const { value: body, pointer } = candidate;
      try {
        if (media?.items === undefined)
          checkBody(validator, declared, { status, contentType, body });
        else if (Array.isArray(body)) for (const item of body) validator.response(media, item);
        chosen = candidate;
        break;
      } catch (error) {
        const mismatch = mismatchOf(error);
        if (mismatch === undefined) throw error;
        // Reported if none matches. The first value is the most complete one.
        firstMismatch ??= mismatch;
        if (pointer === undefined) continue;
        chosen ??= candidate;
        mismatches.push(`${pointer}: ${mismatch}`);
      }
    }
    if (chosen === undefined) {
      const advice = 'add an example to the response in the document';
      return new HttpError(501, `no answer could be generated: ${advice} (${firstMismatch})`);
    }
    const required = declared.headers.filter((header) => header.required);
    const headers = required.map((header) => {
      const [example = { value: valuesOf(root, header.schema, 'response').next().value }] =
        header.examples();
      return [header.name, example.value];
    });
    const reason =
      mismatches.length > 0
        ? `examples that do not match their schemas: ${mismatches.join('; ')}`
        : undefined;
    const mockHeaders = { ...Object.fromEntries(headers), 'X-Mock': 'true' };
    return { status, headers: mockHeaders, contentType, body: chosen.value, reason, mocked: true };
  }

  /**
   * Yields the possible bodies, best first. For a failure that is declared as a range or as
   * `default`, the body that `errorBody` makes comes first, since it contains the status.
   */
  function* bodies(
    status: number,
    { key }: DeclaredResponse,
    media: MediaType,
    name?: string,
  ): Generator<Example> {
    const { items, type: mediaType, schema } = media;
    const examples = media.examples();
    if (name !== undefined) {
      const namedExamples = examples.filter((example) => example.name === name);
      const names = examples.flatMap((example) => example.name ?? []).join(', ') || 'none';
      if (namedExamples.length > 0) return yield* namedExamples;
      throw new HttpError(
        400,
        `/header/Prefer example must be one of the declared examples: ${names}`,
      );
    }
    const declared = { operationId: operation.id, mediaType, schema };
    const errorBodies =
      status < 400 || items
        ? []
        : [{ value: makeBody(errorBody, { status, message: 'a mocked failure' }, declared) }];
    yield* key === String(status) ? [...examples, ...errorBodies] : [...errorBodies, ...examples];
    if (items === undefined)
      for (const value of bodiesOf(root, concrete(mediaType), media)) yield { value };
    else for (const value of valuesOf(root, items.schema, 'response')) yield { value: [value] };
  }
}

export const sampleBodies = ({ root }: Document, media: MediaType) =>
  bodiesOf(root, concrete(media.type), media);

async function* paced(media: MediaType, list: unknown): AsyncGenerator<unknown> {
  const text = Readable.from([Buffer.from(String(list))]);
  let pace = 0;
  for await (const item of Array.isArray(list)
    ? list
    : media.readItems(media.type, text, Infinity)) {
    await delay(pace);
    yield item;
    pace = ITEM_INTERVAL;
  }
}

function chosenResponse(
  operation: Operation,
  code: string | undefined,
): [number, DeclaredResponse] {
  const { responses } = operation;
  // The first declared success, or else the first declared response.
  const first =
    (responses.find(({ key }) => /^2/.test(key)) ?? responses[0])?.key.replace(/XX$/i, '00') ??
    '200';
  const status = Number(code ?? first.replace('default', '200'));
  const response = responseFor(operation, status);
  if (response !== undefined && Number.isInteger(status) && status >= 200 && status <= 599)
    return [status, response];
  const keys = responses.map(({ key }) => key).join(', ');
  throw new HttpError(400, `/header/Prefer code must be one of the declared responses: ${keys}`);
}

/**
 * Returns the media type that the client prefers, or the first one if it accepts none. JSON comes
 * first, since most other types cannot be generated from a schema.
 */
function mediaFor(
  { media }: DeclaredResponse,
  accepts: AnyRequest['accepts'],
): MediaType | undefined {
  const inOrder = media.toSorted((a, b) => Number(b.kind === 'json') - Number(a.kind === 'json'));
  const type = accepts(...inOrder.map((candidate) => concrete(candidate.type)));
  return inOrder.find((candidate) => concrete(candidate.type) === type) ?? inOrder[0];
}

/** Returns a media type in a range, such as `image/png` for `image/*`. */
const concrete = (type: string): string =>
  type
    .replace(/^(\*|application)\/\*$/, 'application/json')
    .replace('text/*', 'text/plain')
    .replace('/*+', '/example+')
    .replace('/*', '/png');
