import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  type Codecs,
  concreteType,
  type DeclaredResponse,
  declaredFor,
  type Example,
  type ItemsCoder,
  isJsonType,
  type MediaType,
  type Operation,
  parseJson,
  type Schemas,
  stringifyJson,
} from 'openapi-document';
import { bodiesOf, valuesOf } from 'openapi-document/samples';
import type { AnyHandler, AnyReply, AnyRequest } from '../handlers/types.ts';
import type { OperationValidator } from '../validation/validator.ts';
import { SERVER_HEADERS } from './headers.ts';
import { HttpError } from './http-error.ts';
import { type ErrorBody, makeBody } from './problem.ts';
import { isAsyncIterable, replyWriter, violationOf } from './reply.ts';

type Candidate = Partial<Example>;

/** The name of an example: that of the preference of the client, or that of its request. */
interface ChosenExample {
  readonly name: string | undefined;
  readonly isPreferred: boolean;
}

/** The time between two items of a stream, in milliseconds. */
const ITEM_INTERVAL = 300;

export interface MockOptions {
  readonly schemas: Schemas;
  readonly codecs: Codecs;
  readonly validatorOf: (operation: Operation) => OperationValidator;
  readonly errorBody: ErrorBody;
}

/**
 * Creates a handler that returns an example of the declared response, or a value generated from its
 * schema. The client may choose another declared response with `Prefer: code=404`, and a named
 * example with `Prefer: example=name` (RFC 7240). Without this preference, a request with the
 * values of a named example gets the example with the same name. Examples that do not match their
 * schema are logged, and not sent.
 */
export function mock(
  operation: Operation,
  { schemas, codecs, validatorOf, errorBody }: MockOptions,
): AnyHandler {
  const validator = validatorOf(operation);
  const checkReply = replyWriter(operation, validator);
  const itemsOf = (media: MediaType) =>
    codecs.factsOf(media).unit === 'items' ? media.items : undefined;
  // Replies are cached: generating one is slow, and the result is always the same.
  const replies = new Map<string, AnyReply | HttpError>();
  return async (request) => {
    const { body, headers, accepts } = request;
    // Reads all items, so that an invalid one is rejected.
    if (isAsyncIterable(body)) for await (const item of body) void item;
    const preferences = String(headers.prefer ?? '').matchAll(
      /(?:^|[,;\s])(code|example)\s*=\s*"?([^\s",;]+)"?/g,
    );
    const { code, example: preferredExample } = Object.fromEntries(
      preferences.map(([, name, value]) => [name, value]),
    );
    const [status, declared] = chosenResponse(operation, code);
    const media = mediaFor(declared, accepts);
    const isPreferred = preferredExample !== undefined;
    const name = preferredExample ?? (media && exampleOfRequest(media, request));
    const key = [status, media?.type, media && name, isPreferred].join(' ');
    const reply = replies.get(key) ?? createReply(status, declared, media, { name, isPreferred });
    replies.set(key, reply);
    if (reply instanceof HttpError) throw reply;
    if (media === undefined) return reply;
    const coder = codecs.of(media);
    return coder.unit === 'items' ? { ...reply, body: paced(media, coder, reply.body) } : reply;
  };

  /** Returns the name of the example whose request has the same values as a request. */
  function exampleOfRequest(media: MediaType, request: AnyRequest): string | undefined {
    const names = media.examples.flatMap(({ name }) => name ?? []);
    const { requestBody, parameters } = operation;
    // A stream of items or bytes has no examples.
    const received = requestBody?.media.find(
      (each) =>
        each.type === request.contentType && /value|form|parts/.test(codecs.factsOf(each).unit),
    );
    return names.find((name) => {
      const isNamed = (example: { readonly name?: string }) => example.name === name;
      const pairs = parameters.map((each) => [
        each.examples.find(isNamed)?.value,
        request[each.in][each.name],
      ]);
      const body = received?.examples.find(isNamed)?.value;
      if (received !== undefined && body !== undefined)
        pairs.push([validBody(received, body), request.body]);
      const exemplary = pairs.filter(([value]) => value !== undefined);
      return (
        exemplary.length > 0 &&
        exemplary.every(([value, other]) => isDeepStrictEqual(jsonOf(value), jsonOf(other)))
      );
    });
  }

  /** Returns an example of a body as handlers get it, such as with defaults. */
  function validBody(media: MediaType, example: unknown): unknown {
    try {
      return validator.body(media)(example);
    } catch (error) {
      if (violationOf(error) === undefined) throw error;
      return example;
    }
  }

  /**
   * Returns a reply with the first body with which it is valid, or a 501 if there is none.
   *
   * @throws {HttpError} 400 if no example has the name.
   */
  function createReply(
    status: number,
    declared: DeclaredResponse,
    media: MediaType | undefined,
    example: ChosenExample,
  ): AnyReply | HttpError {
    const contentType = media && concreteType(media.type);
    const items = media && itemsOf(media);
    const invalidExamples: string[] = [];
    let reason: string | undefined;
    const candidates: Iterable<Candidate> =
      media === undefined ? [{}] : bodies(status, declared, media, example);
    for (const { value: body, pointer } of candidates) {
      try {
        const headers = { ...headersOf(declared), 'X-Mock': 'true' };
        // The items of a text are validated when they are sent.
        checkReply({ status, headers, contentType, body: items ? Readable.from([]) : body });
        if (media !== undefined && items !== undefined && Array.isArray(body))
          for (const item of body) validator.response(media)(item);
        if (invalidExamples.length > 0)
          reason = `examples that do not match their schemas: ${invalidExamples.join('; ')}`;
        return { status, headers, contentType, body, reason, mocked: true };
      } catch (error) {
        const violation = violationOf(error);
        if (violation === undefined) throw error;
        reason ??= ` (${violation})`;
        if (pointer !== undefined) invalidExamples.push(`${pointer}: ${violation}`);
      }
    }
    const advice = 'add a valid example to the response in the document';
    return new HttpError(501, `no response could be generated: ${advice}${reason ?? ''}`);
  }

  /** Returns values of the required headers of a response. */
  function headersOf({ headers }: DeclaredResponse): Readonly<Record<string, unknown>> {
    const required = headers.filter((each) => each.required && !SERVER_HEADERS.has(each.name));
    const values = required.map(({ name, schema, examples }) => {
      const generated = valuesOf(schemas, schema, 'response').take(1);
      const candidates = [...examples.map(({ value }) => value), ...generated];
      return [name, candidates.find((value) => schemas.at(schema, 'response').isValid(value))];
    });
    return Object.fromEntries(values);
  }

  /**
   * Yields the possible bodies, best first. For a failure that is declared as a range or as
   * `default`, the body that `errorBody` makes comes first, since it contains the status.
   */
  function* bodies(
    status: number,
    { key }: DeclaredResponse,
    media: MediaType,
    { name, isPreferred }: ChosenExample,
  ): Generator<Candidate> {
    const { type: mediaType, schema, examples } = media;
    const items = itemsOf(media);
    const named = examples.filter((example) => name !== undefined && example.name === name);
    yield* named;
    if (isPreferred) {
      if (named.length > 0) return;
      const names = examples.flatMap((example) => example.name ?? []).join(', ') || 'none';
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
      for (const value of bodiesOf(schemas, codecs, concreteType(mediaType), media))
        yield { value };
    else for (const value of valuesOf(schemas, items.schema, 'response')) yield { value: [value] };
  }
}

/** Returns a value as JSON has it. The values of some formats, such as dates, are objects. */
const jsonOf = (value: unknown): unknown => parseJson(stringifyJson(value) ?? 'null');

export const sampleBodies = ({ schemas, codecs }: MockOptions, media: MediaType) =>
  bodiesOf(schemas, codecs, concreteType(media.type), media);

async function* paced(media: MediaType, coder: ItemsCoder, list: unknown) {
  const text = Readable.from([Buffer.from(String(list))]);
  const message = { format: media, contentType: media.type };
  let pace = 0;
  for await (const item of Array.isArray(list) ? list : coder.read(text, message, Infinity)) {
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
  const response = declaredFor(operation, status);
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
  const isJson = ({ type }: MediaType) => Number(isJsonType(type));
  const inOrder = media.toSorted((a, b) => isJson(b) - isJson(a));
  const type = accepts(...inOrder.map((candidate) => concreteType(candidate.type)));
  return inOrder.find((candidate) => concreteType(candidate.type) === type) ?? inOrder[0];
}
