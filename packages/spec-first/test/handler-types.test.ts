import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { documentFile } from '../../../test/support/documents.ts';
import { generateTypes } from '../src/types.ts';

const project = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const folder = mkdtempSync(join(tmpdir(), 'handler-types-'));
symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Handlers for the documents, with each mistake that the compiler has to find behind `@ts-expect-error`. */
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
    // @ts-expect-error a declared header is missing
    reply<'give'>({ status: 200, contentType: 'application/json', body });
    // @ts-expect-error a declared header is of another type
    reply<'give'>({ status: 200, contentType: 'application/json', headers: { 'X-Count': 'a' }, body });
    // @ts-expect-error the media type must be said where there are several
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
    // @ts-expect-error a value where the media type has a way of its own to write it
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
    // @ts-expect-error what is readOnly is demanded of a reply
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
        // @ts-expect-error nobody is known where nothing is secured
        caller.subject;
        return who;
      },
      optional({ caller }) {
        is<string | undefined>()(caller?.subject);
        // @ts-expect-error nobody may be known
        caller.subject;
        return who;
      },
      either: ({ caller: { scopes } }) => ({ status: 200, body: { scopes: String(scopes) } }),
      both: () => who,
      scoped: () => who,
      body: () => who,
    });
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

test('the generated types fit handlers of each document, and the compiler finds each mistake', async () => {
  for (const [name, handlers] of Object.entries(HANDLERS)) {
    const own = join(folder, name.replace('/', '-'));
    mkdirSync(own);
    writeFileSync(join(own, 'types.ts'), await generateTypes(await loadDocument(documentFile(`${name}.yaml`))));
    writeFileSync(join(own, 'handlers.ts'), prelude(name) + handlers);
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(project, 'tsconfig.json'),
      compilerOptions: { typeRoots: [join(project, 'node_modules/@types')], noUnusedLocals: false },
      include: ['.'],
    }),
  );
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  let found = '';
  try {
    execFileSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], { encoding: 'utf8' });
  } catch (error) {
    found = String(Object(error).stdout);
  }
  expect(found).toBe('');
});
