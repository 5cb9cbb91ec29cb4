import { isDeepStrictEqual } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { clientOf, routesOf } from 'openapi-document/client';
import { type AnyRequest, createService, fetchHandler, loadDocument } from 'spec-first-server';

const PLACES: Readonly<Record<string, readonly string[]>> = {
  path: ['simple', 'label', 'matrix', 'json', 'reserved'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject', 'json', 'reserved'],
  querystring: ['form', 'json'],
  header: ['simple', 'json'],
  cookie: ['form', 'json'],
  urlencoded: ['none', 'form', 'spaceDelimited', 'pipeDelimited', 'deepObject', 'json'],
  multipart: ['none', 'form', 'spaceDelimited', 'pipeDelimited', 'deepObject', 'json'],
};
const FORMS: Readonly<Record<string, string>> = {
  urlencoded: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data',
};

const text = { type: 'string' };
const number = { type: ['integer', 'null'], format: 'int64' };
const numbers = { type: 'array', items: number };
const SHAPES: Readonly<Record<string, object>> = {
  text,
  number: { anyOf: [{ type: 'integer', format: 'int64' }, { type: 'number' }] },
  list: { type: 'array', items: text },
  numbers,
  object: { type: 'object', properties: { a: text, n: numbers }, additionalProperties: text },
  patterns: { type: 'object', properties: { a: text }, patternProperties: { '^b': number } },
  unevaluated: { allOf: [{ properties: { a: text } }], unevaluatedProperties: number },
  // The text of a value may be that of a value with another type.
  textOrNumber: { type: ['string', 'number'] },
  textOrList: { type: ['string', 'array'], items: text },
  textOrObject: { type: ['string', 'object'], additionalProperties: text },
  listOrObject: { type: ['array', 'object'], items: text, additionalProperties: text },
  listOrNull: { type: ['array', 'null'], items: text },
  objectOrNull: { type: ['object', 'null'], additionalProperties: text },
  lists: { type: 'array', items: { type: 'array', items: numbers } },
  deep: {
    type: 'object',
    properties: {
      list: { type: 'array', items: text },
      rows: {
        type: 'array',
        items: { type: 'object', properties: { a: text, n: { type: 'integer' } } },
      },
      inner: { type: 'object', properties: { a: text, flag: { type: 'boolean' } } },
    },
  },
};

/** Texts without a meaning in any place. Each place can send them. */
const PLAIN = ['a', 'Zz9'];
const TEXTS = [
  ...PLAIN,
  ...['', ' ', ' a', 'a ', 'a b', '\u00a0', 'é', '🌵', '\ud800', '\n', '\t', '\0', '\u007f'],
  ...[',', 'a,b', 'a, b', ';', 'a;b=c', '&', 'a&p=b', '=', 'a=b', '|', '.', '..', 'a.b', '/', '\\'],
  ...['%', '%20', '%2C', '%7C', '%zz', '+', '"', '"a"', "'", '?', '#', '[a]', '{p}', '$&', '~'],
  ...['null', 'true', '1', '1e400', '{}', '[]', '__proto__', 'constructor', 'length'],
];
const NUMBERS = [0, -1.5, Infinity, 1e21, 1e-7, 2n ** 63n - 1n, -(2n ** 63n), 9007199254740993n];

const LISTS = [[], ['a'], [''], ['a', 'b'], ['a', '']];
const OBJECTS = [{}, { a: 'b' }, { a: '' }, { a: 'b', c: 'd' }, { 0: 'a', 1: 'b' }];

const objectOf = (name: string, value: unknown) => Object.fromEntries([[name, value]]);

const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  text: TEXTS,
  number: NUMBERS,
  list: [
    [],
    ...TEXTS.flatMap((value, index) => [[value], index % 2 === 0 ? [value, 'b'] : ['b', value]]),
  ],
  numbers: [[], [0], [null], [1, null], [2n ** 60n + 1n, -3]],
  object: [
    {},
    { a: undefined },
    { n: [] },
    { n: [1] },
    { n: [1, 2], a: 'b' },
    ...TEXTS.map((value, index) => (index % 2 === 0 ? { a: value, b: 'c' } : { a: value })),
    ...TEXTS.map((value) => ({ a: 'b', ...objectOf(value, 'x') })),
  ],
  patterns: [{}, { b: 1 }, { b1: 1, a: '1', b2: null }],
  unevaluated: [{}, { b: 1 }, { a: '1', b: 2 }],
  textOrNumber: ['a', '', '1', '9007199254740993', '1.0', '-0', 1, -0.5, 1e21],
  textOrList: ['a', '', 'a,b', 'a;p=b', 'a b', '["a"]', ...LISTS],
  textOrObject: ['a', '', 'a,b', 'a=b', '{"a":"b"}', ...OBJECTS],
  listOrObject: [...LISTS, ...OBJECTS],
  listOrNull: [null, ...LISTS],
  objectOrNull: [null, ...OBJECTS],
  lists: [[], [[]], [[[1, 2], [3]], [[4]]], [[[1]]]],
  deep: [
    {},
    { list: [] },
    { inner: {} },
    { rows: [{}] },
    { rows: [{ n: 1, a: '2' }] },
    { rows: [{ n: 1 }, { a: '3', n: 4 }], list: ['1', '2'], inner: { flag: true } },
    ...TEXTS.map((value) => ({ rows: [{ a: value }], list: [value], inner: { a: value } })),
  ],
};

interface Case {
  readonly place: string;
  readonly style: string;
  readonly explode: boolean;
  readonly shape: string;
}

const CASES = Object.entries(PLACES).flatMap(([place, styles]) =>
  styles.flatMap((style) =>
    [false, true].flatMap((explode) =>
      Object.keys(SHAPES)
        .map((shape): Case => ({ place, style, explode, shape }))
        .filter(isDefined),
    ),
  ),
);

/** Returns true if OpenAPI defines the style for the shape (OpenAPI 3.2 §4.12.3). */
function isDefined({ place, style, explode, shape }: Case): boolean {
  const isScalar = shape === 'text' || shape === 'number';
  if (style === 'json' || style === 'none') return !explode;
  if (place === 'querystring') return shape === 'object' && !explode;
  if (style === 'deepObject') return !isScalar && !/list/.test(shape);
  if (style.endsWith('Delimited') && isScalar) return false;
  return shape !== 'deep' && shape !== 'lists' && !(isScalar && explode);
}

const idOf = ({ place, style, explode, shape }: Case) =>
  [place, style, explode ? 'explode' : 'joined', shape].join('-');

function operationOf(one: Case) {
  const { place, style, explode, shape } = one;
  const schema = SHAPES[shape];
  const responses = { 200: { description: 'it', content: { 'application/json': {} } } };
  const formType = FORMS[place];
  if (formType !== undefined) {
    const encodings = { json: { contentType: 'application/json' }, none: {} };
    const p = encodings[style as keyof typeof encodings] ?? { style, explode };
    const media = { schema: { properties: { p: schema } }, encoding: { p } };
    const content = { [formType]: media };
    return { operationId: idOf(one), requestBody: { content }, responses };
  }
  const type = style === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
  const styled = {
    schema,
    explode,
    ...(style === 'reserved' ? { allowReserved: true } : { style }),
  };
  return {
    operationId: idOf(one),
    parameters: [
      {
        name: 'p',
        in: place,
        required: place === 'path',
        ...(style === 'json' || place === 'querystring'
          ? { content: { [type]: { schema } } }
          : styled),
      },
    ],
    responses,
  };
}

const DOCUMENT = {
  openapi: '3.2.0',
  info: { title: 'Round trips', version: '1' },
  paths: Object.fromEntries(
    CASES.map((one) => [
      `/${idOf(one)}${one.place === 'path' ? '/{p}' : ''}`,
      { [one.place in FORMS ? 'post' : 'get']: operationOf(one) },
    ]),
  ),
};

let call: (id: string, input: object) => Promise<unknown>;
/** The parameters of the last request that reached a handler. */
let received: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;

/** Calls the service without a socket, which takes a quarter of the time. */
beforeAll(async () => {
  const document = await loadDocument(DOCUMENT);
  const handler = ({ path, query, header, cookie, body }: AnyRequest) => {
    received = { path, query, header, cookie, body: Object(body) };
    return { status: 200, body: null };
  };
  const handlers = Object.fromEntries(CASES.map((one) => [idOf(one), handler]));
  const answer = fetchHandler(await createService(document, { handlers }));
  const client: Readonly<Record<string, (input: object) => Promise<unknown>>> = Object(
    clientOf(routesOf(document.operations), {
      baseUrl: 'http://localhost',
      fetch: (url, init) => answer(new Request(url, init)),
    }),
  );
  call = async (id, input) => client[id]?.(input);
});

/** Leaving out a parameter means the same as an empty list, an empty object or `null`. */
const isLeftOut = (value: unknown): boolean =>
  value === null || /^(\[\]|\{\})$/.test(JSON.stringify(value, asText));

const asText = (_key: string, value: unknown) =>
  typeof value === 'bigint' ? String(value) : value;

const withoutUndefined = (value: unknown) =>
  value instanceof Object && 'a' in value && value.a === undefined ? {} : value;

const withoutEmptyLists = (value: unknown) =>
  Object.fromEntries(
    Object.entries(Object(value)).filter(([, each]) => !Array.isArray(each) || each.length > 0),
  );

/** Returns true for texts and numbers that are sent as the same text. */
const isSameText = (one: unknown, other: unknown): boolean =>
  [one, other].every((value) => /string|number/.test(typeof value)) &&
  String(one) === String(other);

/** Returns what went wrong with a value, or `undefined` if it arrived or was rejected. */
async function faultOf(one: Case, value: unknown): Promise<string | undefined> {
  const isForm = one.place in FORMS;
  const where = isForm ? 'body' : one.place.replace('string', '');
  const fault = `${idOf(one)} ${JSON.stringify(value, asText)}`;
  received = undefined;
  try {
    const reply = await call(idOf(one), { [where]: { p: value } });
    if (received === undefined) return `${fault}: ${JSON.stringify(Object(reply).body)}`;
  } catch (error) {
    const isClear = error instanceof TypeError && /\b(parameter p|field)\b/.test(error.message);
    const isAmbiguous = one.shape.includes('Or');
    const isPlain =
      !isAmbiguous && PLAIN.some((plain) => isDeepStrictEqual([plain], [value].flat()));
    return isClear && received === undefined && !isPlain ? undefined : `${fault}: ${error}`;
  }
  const arrived = Object(received)[where].p;
  if (isDeepStrictEqual(arrived, withoutUndefined(value))) return undefined;
  if (one.shape === 'textOrNumber' && isSameText(arrived, value)) return undefined;
  // A form has no field for an empty list.
  const fields = one.place === 'querystring' ? withoutEmptyLists(value) : value;
  if (arrived === undefined && isLeftOut(fields)) return undefined;
  return `${fault}: arrived as ${JSON.stringify(arrived, asText)}`;
}

const STYLES = Object.entries(PLACES).flatMap(([place, styles]) =>
  styles.map((style) => [place, style] as const),
);

test.each(STYLES)(
  'values in %s with the style %s arrive unchanged, or are rejected before they are sent',
  async (place, style) => {
    const faults: string[] = [];
    for (const one of CASES.filter((each) => each.place === place && each.style === style)) {
      const isJson = one.style === 'json' || place === 'querystring' || place in FORMS;
      for (const value of [...(isJson ? [] : [null]), ...(VALUES[one.shape] ?? [])]) {
        const fault = await faultOf(one, value);
        if (fault !== undefined) faults.push(fault);
      }
    }
    expect(faults).toEqual([]);
  },
);
