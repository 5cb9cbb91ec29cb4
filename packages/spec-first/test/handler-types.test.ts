import { rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadDocument, temporalFormats } from 'openapi-document';
import { documentFile } from 'test-support/documents';
import { compile, makeProject } from 'test-support/project';
import { generateTypes } from '../src/types.ts';

/**
 * Handlers for the documents. `@ts-expect-error` precedes each mistake that the compiler must
 * report.
 */
const HANDLERS: Readonly<Record<string, string>> = {
  parameters: `
    implement({
      plain({ path, query, header, cookie, body, caller }) {
        is<number>()(path.id);
        is<number>()(query.limit);
        is<boolean | undefined>()(query.exact);
        is<number | undefined>()(query['page[size]']);
        is<number | null | undefined>()(header['X-Depth']);
        is<string | undefined>()(cookie.session);
        is<undefined>()(body);
        is<undefined>()(caller);
        // @ts-expect-error no such parameter
        query.other;
        return { status: 200, body: {} };
      },
      query({ query }) {
        is<number[] | undefined>()(query.form);
        is<{ x: number; y: number } | undefined>()(query.json);
        is<number | undefined>()(query.deep?.from);
        return { status: 200, body: query };
      },
      exploded: () => ({ status: 200, body: null }),
      simple: async ({ path }) => ({ status: 200, body: path.point.x }),
      // @ts-expect-error a status that is not declared
      label: () => ({ status: 201, body: null }),
      // @ts-expect-error no body
      matrix: () => ({ status: 200 }),
      file: () => ({ status: 200, body: [] }),
      activate: () => ({ status: 200, body: [] }),
      mine: () => ({ status: 200, body: [] }),
    });
    // @ts-expect-error handlers are missing
    export const one: Handlers = { mine: () => ({ status: 200, body: [] }) };
  `,
  bodies: `
    type Note = { text: string; stars: number };
    implement({
      async take(request) {
        switch (request.contentType) {
          case 'application/json':
            is<string>()(request.body.text);
            is<number>()(request.body.stars);
            break;
          case 'text/plain':
            is<string>()(request.body);
            break;
          case 'application/x-www-form-urlencoded':
            is<string[] | undefined>()(request.body.tags);
            break;
          case 'multipart/form-data':
            is<File>()(request.body.photo);
            is<string | undefined>()(request.body.note?.text);
            break;
          case 'image/*':
          case 'application/octet-stream':
            for await (const chunk of request.body) void chunk;
            break;
          case 'application/vnd.note+json;version=2':
            is<string>()(request.body.v2);
        }
        return { status: 200, body: {} };
      },
      // @ts-expect-error the body may be missing
      optional: ({ body }) => ({ status: 200, body: body.text }),
      ignored: () => ({ status: 204 }),
      give: () => ({ status: 204 }),
      only: () => ({ status: 204 }),
      peek: () => ({ status: 200, headers: { 'X-Count': 1 } }),
      any: () => ({ status: 200, contentType: 'application/json', body: { text: 'a', stars: 1 } }),
    });
    const headers = { 'X-Count': 1 };
    const body: Note = { text: 'a', stars: 1 };
    reply<'give'>({ status: 200, contentType: 'application/json', headers, body });
    reply<'give'>({ status: 200, contentType: 'application/json', headers: { ...headers, 'X-Own': 'a' }, body });
    reply<'give'>({ status: 200, contentType: 'text/plain', headers, body: 'a' });
    reply<'give'>({ status: 200, contentType: 'text/csv', headers, body: Readable.from([]) });
    reply<'give'>({ status: 200, contentType: 'image/png', headers, body: new Uint8Array() });
    reply<'give'>({ status: 404, body: { error: 404, message: '' } });
    reply<'give'>({ status: 503, body: { error: 503, message: '' } });
    reply<'any'>({ status: 200, contentType: 'image/png', body: new Blob() });
    reply<'any'>({ status: 200, contentType: 'image/png', body: new Blob().stream() });
    reply<'any'>({ status: 200, contentType: 'image/png', body: new ArrayBuffer(1) });
    // @ts-expect-error a declared header is missing
    reply<'give'>({ status: 200, contentType: 'application/json', body });
    // @ts-expect-error a declared header is of another type
    reply<'give'>({ status: 200, contentType: 'application/json', headers: { 'X-Count': 'a' }, body });
    // @ts-expect-error one of several media types must be named
    reply<'give'>({ status: 200, headers, body });
    // @ts-expect-error a media type that is not declared
    reply<'only'>({ status: 204, contentType: 'text/html' });
    // @ts-expect-error a body of another type
    reply<'give'>({ status: 200, contentType: 'application/json', headers, body: { text: 1, stars: 1 } });
    // @ts-expect-error a value where text is declared
    reply<'give'>({ status: 200, contentType: 'text/plain', headers, body });
    // @ts-expect-error a body where none is declared
    reply<'give'>({ status: 204, body });
    // @ts-expect-error an error of another shape
    reply<'give'>({ status: 404, body });
    // @ts-expect-error a status that is not declared
    reply<'only'>({ status: 200 });
  `,
  uncommon: `
    implement({
      texts(request) {
        if (request.contentType === 'text/plain') is<number>()(request.body);
        if (request.contentType === 'text/csv') request.body.pipe;
        if (request.contentType === 'text/json') is<number>()(request.body.n);
        return { status: 200, contentType: 'text/plain', body: 5 };
      },
      merged: ({ query }) => ({ status: 200, body: is<number | undefined>()(query.second) }),
      near: ({ query }) => ({ status: 200, body: is<number | undefined>()(query.q) }),
      deep: ({ query }) => ({ status: 200, body: is<number | undefined>()(query.f?.a?.min) }),
      own: () => ({ status: 200, body: { constructor: 'a' } }),
      amounts: ({ query }) => ({ status: 200, body: { query } }),
    });
    reply<'texts'>({ status: 200, contentType: 'text/event-stream', body: Readable.from([]) });
    reply<'texts'>({ status: 200, contentType: 'application/xml', body: '<a/>' });
    // @ts-expect-error a value for a media type that is not JSON
    reply<'texts'>({ status: 200, contentType: 'text/event-stream', body: {} });
  `,
  schemas: `
    implement({
      account({ body }) {
        is<string>()(body.password);
        // @ts-expect-error readOnly, so not in a request
        body.id;
        return { status: 200, body: { id: 1, name: 'a' } };
      },
      pet: ({ body }) => ({ status: 200, body: body.petType }),
      shapes: ({ body: { list = [] } }) => ({
        status: 200,
        body: list.map((shape) => ('radius' in shape ? shape.radius : shape.side)),
      }),
      modern({ body }) {
        is<string | null | undefined>()(body.maybe);
        is<1 | undefined>()(body.fixed);
        return { status: 200, body: {} };
      },
      tree: ({ body }) => ({ status: 200, body: { value: 1, children: [body] } }),
    });
    // @ts-expect-error writeOnly, so not in a reply
    reply<'account'>({ status: 200, body: { id: 1, name: 'a', password: 'b' } });
    // @ts-expect-error a reply must have readOnly members
    reply<'account'>({ status: 200, body: { name: 'a' } });
  `,
  security: `
    const who = { status: 200, body: {} } as const;
    implement({
      secured({ caller }) {
        is<string | undefined>()(caller.subject);
        return who;
      },
      open({ caller }) {
        // @ts-expect-error an operation without security has no caller
        caller.subject;
        return who;
      },
      optional({ caller }) {
        is<string | undefined>()(caller?.subject);
        // @ts-expect-error the caller may be missing
        caller.subject;
        return who;
      },
      either: ({ caller: { scopes } }) => ({ status: 200, body: { scopes: String(scopes) } }),
      both({ callers }) {
        is<string | undefined>()(callers.bearer.subject);
        is<string | undefined>()(callers.header.subject);
        // @ts-expect-error not a scheme of the operation
        callers.cookie;
        return who;
      },
      scoped: () => who,
      body: () => who,
    });

    const verifiers = {
      header: async ({ headers }) => ({ subject: 'ann', scopes: 'all', tenant: headers.host?.length ?? 0 }),
      cookie: () => ({ subject: 'bob', scopes: new Set(), user: { name: 'Bob' } }),
    } satisfies import('spec-first-server').Verifiers;
    type Verified = Handlers<typeof verifiers>;
    export const verified: Pick<Verified, 'secured' | 'either' | 'both' | 'open'> = {
      secured({ caller, callers }) {
        is<string | undefined>()(caller.subject);
        // @ts-expect-error the operation needs one scheme only
        is<object>()(callers);
        // @ts-expect-error the caller of a token has no tenant
        caller.tenant;
        return who;
      },
      either({ caller }) {
        is<string | undefined>()(caller.subject);
        is<number | undefined>()('tenant' in caller ? caller.tenant : undefined);
        is<string | undefined>()('user' in caller ? caller.user.name : undefined);
        return who;
      },
      both({ caller, callers }) {
        is<number>()(callers.header.tenant);
        is<number | undefined>()('tenant' in caller ? caller.tenant : undefined);
        // @ts-expect-error no cookie is verified
        'user' in caller && caller.user.name;
        return who;
      },
      open({ caller }) {
        is<undefined>()(caller);
        return who;
      },
    };
    export const around: import('./types.ts').Around<typeof verifiers> = (_operation, { caller }, next) => {
      is<number | undefined>()(caller && 'tenant' in caller ? caller.tenant : undefined);
      return next();
    };
    type Members = { readonly tx: { run(statement: string): void } };
    export const adding: import('./types.ts').Around<typeof verifiers, Members> = (_operation, _request, next) =>
      next({ tx: { run: () => undefined } });
    // @ts-expect-error the members are missing
    export const notAdding: import('./types.ts').Around<{}, Members> = (_operation, _request, next) => next();
    export const added: Pick<Handlers<typeof verifiers, Members>, 'secured'> = {
      secured({ tx }) {
        is<Members['tx']>()(tx);
        return who;
      },
    };
    export const adds: import('spec-first-server').AppOptions = { document: '', handlers: added, around: adding, verifiers };
    // @ts-expect-error no operation declares the status
    export const wrongStatus: import('./types.ts').Around = () => ({ status: 201, body: {} });
    // @ts-expect-error the reply of a wrong type, after the handler
    export const wrongBody: import('./types.ts').Around = async (_operation, _request, next) => {
      const reply = await next();
      return { ...reply, body: 5 };
    };
    export const served: import('spec-first-server').AppOptions = { document: '', handlers: verified, around, verifiers };
  `,
  servers: `
    implement({ health: () => ({ status: 200, body: 'fine' }), things: () => ({ status: 200, body: [1] }) });
  `,
  errors: `
    implement({ things: ({ body }) => ('b' in body ? { status: 204 } : { status: 409, body: { title: '', status: 409 } }) });
  `,
  integers: `
    implement({
      integers({ path, query, body }) {
        is<Int64>()(path.id);
        is<number | undefined>()(query.number);
        is<Int64 | undefined>()(body.plain);
        is<number | undefined>()(body.small);
        return { status: 200, headers: { 'X-Integer': 5 }, body: { body: { integer: 2n ** 60n } } };
      },
    });
  `,
  streams: `
    implement({
      watch: ({ headers, signal }) => ({
        status: 200,
        contentType: 'text/event-stream',
        body: (async function* () {
          is<string | string[] | undefined>()(headers['last-event-id']);
          if (!signal.aborted) yield { id: '1', data: { text: 'a', id: 1n } };
        })(),
      }),
      async add({ body }) {
        let count = 0;
        for await (const note of body) {
          is<string>()(note.text);
          // @ts-expect-error readOnly
          note.id;
          count += 1;
        }
        return { status: 200, body: count };
      },
    });
    implement({
      // @ts-expect-error an item without data
      watch: () => ({
        status: 200,
        contentType: 'text/event-stream',
        body: (async function* () {
          yield { id: '1' };
        })(),
      }),
    });
    // @ts-expect-error no stream of items
    implement({ watch: () => ({ status: 200, contentType: 'application/jsonl', body: '{}' }) });
  `,
  silent: `
    implement({ silent: () => ({ status: 204, headers: { 'X-Any': 'text' } }) });
    // @ts-expect-error no body is declared
    implement({ silent: () => ({ status: 200, body: 1 }) });
    is<undefined>()(undefined);
  `,
  'split/openapi': `
    implement({
      putPet({ path, body }) {
        is<number>()(path.id);
        return { status: 200, body: body.kind === 'cat' ? body.lives : body.bark };
      },
    });
  `,
};

const prelude = (name: string) => `
  import { Readable } from 'node:stream';
  import type { Handlers, Int64, operations, ReplyTo } from './types.ts';
  type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
  /** Takes a value of exactly this type. */
  const is = <T>() => <U>(_value: U & (Same<T, U> extends true ? unknown : { not: T })): void => {};
  const implement = (_handlers: Partial<Handlers>): void => {};
  const reply = <Id extends keyof operations>(_reply: ReplyTo<Id>): void => {};
  export const used = [Readable, is, implement, reply, '${name}'] as const;
  export type Used = Int64;
`;

const DOCUMENT = `openapi: 3.1.0
info: { title: Garden, version: 1.0.0 }
paths:
  /plants:
    post:
      operationId: createPlant
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: '#/components/schemas/Plant' } } }
      responses:
        '200': { description: Kept., content: { application/json: { schema: { $ref: '#/components/schemas/Plant' } } } }
        default: { description: An error., content: { application/json: { schema: { $ref: '#/components/schemas/Error' } } } }
    get:
      operationId: listPlants
      responses:
        '200': { description: All., content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/Plant' } } } } }
components:
  schemas:
    Plant: { type: object, required: [name], properties: { name: { type: string }, tag: { type: string } } }
    Error: { type: object, required: [error, message], properties: { error: { type: integer }, message: { type: string } } }
`;

const TYPED = `openapi: 3.1.0
info: { title: Accounts, version: 1.0.0 }
paths:
  /accounts/{id}:
    get:
      operationId: getAccount
      parameters: [{ name: id, in: path, required: true, schema: { type: string, format: iban } }]
      responses:
        '200':
          description: It.
          content: { application/json: { schema: { type: array, items: { type: string, format: date-time } } } }
`;

const TYPED_HANDLERS = `
  import type { Iban } from './iban.ts';
  implement({
    getAccount({ path: { id } }) {
      is<Iban>()(id);
      return { status: 200, body: [Temporal.Now.instant()] };
    },
  });
  reply<'getAccount'>({ status: 200, body: [Temporal.Now.instant()] as const });
  // @ts-expect-error a text has no type
  reply<'getAccount'>({ status: 200, body: ['2027-01-31T00:00:00Z'] });
`;

/** A handlers file. Line 4 is the object of handlers, line 6 is the reply of `createPlant`. */
const RIGHT = `import type { Handlers, ReplyTo, RequestTo } from './types.ts';

/** The handlers. */
export const handlers: Handlers = {
  async createPlant({ body: { name, tag } }: RequestTo<'createPlant'>): Promise<ReplyTo<'createPlant'>> {
    return { status: 200, body: { name, tag } };
  },
  async listPlants(): Promise<ReplyTo<'listPlants'>> {
    return { status: 200, body: [] };
  },
};
`;

/** The same handlers as methods of a class, for one operation. */
const CLASS = RIGHT.replace(
  'export const handlers: Handlers = {',
  "class Plants implements Pick<Handlers, 'createPlant'> {",
)
  .replace(/async listPlants[^}]*}[^}]*},/, '')
  .replace('},\n', '}\n')
  .replace(/};\n$/, "}\nexport const handlers: Pick<Handlers, 'createPlant'> = new Plants();\n");

/** The kinds of handlers that the compiler accepts in the options of a server. */
const USES = `import type { AnyHandler, Backend } from 'spec-first-server';
import type { Handlers } from '../types.ts';

declare const complete: Handlers;
declare const partial: Partial<Handlers>;
declare const single: Pick<Handlers, 'createPlant'>;

export const handlers: Readonly<Record<string, AnyHandler>> = complete;
export const backends: readonly Backend[] = [{ handlers: complete }, { handlers: partial }, { handlers: single }, { handlers: {} }];
`;

/** Mistakes: the replaced text, the line of the message, and its first words. */
const MISTAKES: readonly (readonly [
  name: string,
  from: string,
  to: string,
  line: number,
  message: string,
])[] = [
  [
    'a wrong status',
    'status: 200, body: { name',
    'status: 201, body: { name',
    6,
    "Type '201' is not assignable to type '200 | ",
  ],
  [
    'a wrong body member',
    '{ name, tag } };',
    '{ name: name.length, tag } };',
    6,
    "Type 'number' is not assignable to type 'string'.",
  ],
  [
    'a superfluous body member',
    '{ name, tag } };',
    '{ name, nme: name, tag } };',
    6,
    "Object literal may only specify known properties, and 'nme' does not exist in type",
  ],
  [
    'a missing operation',
    /async listPlants[^}]*}[^}]*},/.exec(RIGHT)?.[0] ?? '',
    '',
    4,
    "Property 'listPlants' is missing in type ",
  ],
  [
    'a misspelt operation',
    'async createPlant(',
    'async createPlnt(',
    5,
    "Object literal may only specify known properties, but 'createPlnt' does not exist in type 'Handlers'. " +
      "Did you mean to write 'createPlant'?",
  ],
];

/** The messages of the compiler by file, as `line message`. */
const messages = new Map<string, string[]>();
let folder = '';

/** Compiles all handlers in one run, which is much faster than a run for each document. */
beforeAll(async () => {
  const files: Record<string, string> = {
    'mistakes/openapi.yaml': DOCUMENT,
    'mistakes/right.ts': RIGHT,
    'mistakes/class.ts': CLASS,
    'typed/openapi.yaml': TYPED,
    'typed/handlers.ts': prelude('typed') + TYPED_HANDLERS,
    'typed/iban.ts':
      'declare const iban: unique symbol;\nexport type Iban = string & { [iban]: true };\n',
    'mistakes/wrong class.ts': CLASS.replace('status: 200', 'status: 201'),
    'mistakes/other/uses.ts': USES,
  };
  for (const [name, from, to] of MISTAKES) files[`mistakes/${name}.ts`] = RIGHT.replace(from, to);
  for (const [name, handlers] of Object.entries(HANDLERS))
    files[`${basename(name)}/handlers.ts`] = prelude(name) + handlers;
  folder = makeProject(files);
  const config = {
    extends: './tsconfig.json',
    compilerOptions: { noUnusedLocals: false },
    include: ['*/*.ts', 'mistakes/other'],
  };
  writeFileSync(join(folder, 'tsconfig.all.json'), JSON.stringify(config));
  const documents = Object.keys(HANDLERS).map(
    (name) => [basename(name), documentFile(`${name}.yaml`)] as const,
  );
  for (const [name, file] of [
    ...documents,
    ['mistakes', join(folder, 'mistakes/openapi.yaml')] as const,
  ]) {
    writeFileSync(join(folder, name, 'types.ts'), await generateTypes(await loadDocument(file)));
  }
  const iban = { type: "import('./iban.ts').Iban", parse: String, stringify: String };
  const formats = { ...temporalFormats, iban };
  const typed = await loadDocument(join(folder, 'typed/openapi.yaml'), { formats });
  writeFileSync(join(folder, 'typed/types.ts'), await generateTypes(typed));
  for (const error of compile(folder, '-p', 'tsconfig.all.json')
    .trim()
    .split(/\n(?=\S)/)) {
    const match = /^(.*)\.ts\((\d+),\d+\): error TS\d+: ([\s\S]*)$/.exec(error);
    const [, file = '', line, message] = match ?? ['', '', 0, error];
    messages.set(file, [...(messages.get(file) ?? []), `${line} ${message}`]);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

test('the generated types fit the handlers of each document, and the compiler reports each mistake', () => {
  expect([...messages].filter(([file]) => !file.startsWith('mistakes/'))).toEqual([]);
});

describe('the compiler', () => {
  test('accepts handlers of the right type, and a part of them as Partial<Handlers>', () => {
    expect([messages.get('mistakes/right'), messages.get('mistakes/other/uses')]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('accepts methods of a class, and reports a mistake in one line', () => {
    expect(messages.get('mistakes/class')).toBeUndefined();
    expect(messages.get('mistakes/wrong class')).toEqual([
      expect.stringMatching(/^6 Type '201' is not assignable to type '[^\n]*$/),
    ]);
  });

  test.each(MISTAKES)('reports %s once, at its line', (name, _from, _to, line, message) => {
    const [first = '', ...others] = messages.get(`mistakes/${name}`) ?? [];
    expect(others).toEqual([]);
    expect(first.slice(0, `${line} ${message}`.length)).toBe(`${line} ${message}`);
  });
});
