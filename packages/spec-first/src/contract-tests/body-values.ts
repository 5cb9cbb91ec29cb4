import { examplesOf, type MediaType } from 'openapi-document';
import { oneOf, shuffled } from './random.ts';
import { type Context, type RequestBody, samplesOf, schemaOf } from './values.ts';
import { variantsOf } from './variants.ts';
import { isWritable } from './write-body.ts';

/** How many variants of a body are looked at. */
const TRIED = 2_000;

/** How many places of a body are changed at most. */
const PLACES = 8;

/** Bodies that satisfy the document, the declared examples first, and how many these are. */
export function validBodies(context: Context, media: MediaType): { bodies: RequestBody[]; examples: number } {
  const isText = (value: unknown) => media.kind === 'stream' && media.items === undefined && typeof value === 'string';
  const examples = examplesOf(context.root, media)
    .flatMap(({ value }) => (media.items === undefined ? [value] : [value].flat()))
    .map((value): RequestBody => ({ media, value }))
    // Only the media type can read such a text, XML for example.
    .filter((body) => isValidBody(context, body) || isText(body.value));
  const values =
    media.kind === 'stream' && media.items === undefined && !media.constrained
      ? ['text', '🌵']
      : samplesOf(context.root, schemaOf(media));
  const made = values.map((value): RequestBody => ({ media, value })).filter((body) => isValidBody(context, body));
  return { bodies: [...examples, ...made], examples: examples.length };
}

export const isValidBody = ({ checks }: Context, { media, value }: RequestBody): boolean =>
  checks(schemaOf(media), 'request')(value) === undefined && isWritable(media, value);

/** A valid body that differs from another one: now in many places, each with its next value, now in a few at random. */
export function changedBody(context: Context, body: RequestBody, turn: number, random: () => number): RequestBody {
  const variants = (value: unknown) => variantsOf(context.root, [schemaOf(body.media)], value).take(TRIED);
  const places = shuffled([...new Set(variants(body.value).map(({ at }) => at))], random);
  const count = turn % 2 === 0 ? PLACES : turn % 4;
  let changed = body;
  for (const place of places.slice(0, count)) {
    const others = variants(changed.value)
      .filter(({ at }) => at === place)
      .map(({ value }) => ({ media: body.media, value }))
      .filter((other) => isValidBody(context, other))
      .toArray();
    changed = (turn % 2 === 0 ? others[(turn / 2) % others.length] : oneOf(others, random)) ?? changed;
  }
  return changed;
}

/** Bodies that break the document in one place, each with what is wrong. */
export function* brokenBodies(
  { root, operation, checks }: Context,
  body: RequestBody,
): Generator<[string, RequestBody]> {
  const { media, value } = body;
  if (operation.requestBody?.media.every(({ type }) => !/^[^;]*\*/.test(type))) {
    yield ['a wrong media type', { ...body, contentType: 'application/x-undeclared' }];
  }
  if (media.kind === 'json') yield ['a body that is not JSON', { ...body, raw: '{"' }];
  if (media.kind === 'stream' || media.kind === 'text') return;
  const check = checks(media.schema, 'request');
  for (const { at, how, value: other } of variantsOf(root, [media.schema], value).take(TRIED)) {
    // A form is text: most of its values have no type of their own.
    if (media.kind !== 'json' && (how !== 'is missing' || at.lastIndexOf('/') > 0)) continue;
    // A form without fields has no bytes: it is no body.
    if (!isWritable(media, other) || check(other) === undefined) continue;
    yield [at === '' ? `a body that ${how}` : `a body whose ${at} ${how}`, { ...body, value: other }];
  }
}
