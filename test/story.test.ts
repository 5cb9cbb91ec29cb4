import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { freePort } from './support/free-port.ts';
import { copyProject, end, groupRuns, placeOf, type Running, run, start } from './support/project.ts';

const TOKEN = 'a-token-of-the-library';

/** What the team writes: two of the twelve operations. */
const HANDLERS = `import type { components, defaults, operations, Readable, security } from '../generated/openapi.ts';
import { implement } from './operations.ts';
import type { Backend } from './service.ts';

type Book = components['schemas']['Book'];
type Loan = Readable<components['schemas']['Loan']>;

export interface LibraryContract {
  operations: operations;
  security: security;
  defaults: defaults;
}

const catalogue: readonly Book[] = [
  { isbn: '9780141439600', title: 'A Tale of Two Cities', year: 1859, genres: ['fiction', 'history'] },
  { isbn: '9780199539277', title: 'Micrographia', year: 1665, genres: ['science'] },
  { isbn: '9780140449266', title: 'The Monk', year: null, genres: ['fiction'] },
];

export async function openLibrary(): Promise<Backend> {
  const loans: Loan[] = [];
  const handlers = implement<LibraryContract>({
    listBooks({ query: { genre, sort, page, perPage } }) {
      const found = catalogue
        .filter(({ genres }) => genre === undefined || genre.some((wanted) => genres.includes(wanted)))
        .toSorted((a, b) => (sort === 'year' ? Number(a.year) - Number(b.year) : a.title.localeCompare(b.title)));
      const last = Number(page) * perPage;
      return {
        status: 200,
        headers: { 'X-Total-Count': found.length },
        body: found.slice(last - perPage, last),
      };
    },
    createLoan({ body, caller }) {
      if (body.kind === 'room') return { status: 202 };
      if (loans.some(({ what }) => what.kind === 'book' && what.isbn === body.isbn)) {
        return { status: 409, body: { status: 409, title: \`\${caller.subject ?? 'Somebody'} comes too late\` } };
      }
      const loan: Loan = { id: loans.length + 1, what: body };
      loans.push(loan);
      return { status: 201, body: loan };
    },
  });
  return {
    handlers,
    place: 'memory',
    ready: async () => undefined,
    waiting: () => 0,
    close: async () => undefined,
  };
}
`;

/** What the team says of its handlers until all of them are written. */
const WRITTEN = "operations: Pick<operations, 'listBooks' | 'createLoan'>;";

/** The team's own test, and those that came with the project and look at what a team changes. */
const CONCERNED = ['library', 'config', 'documents'].map((name) => `test/${name}.test.ts`);

/** The team's own test. */
const TEST = `import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { readConfig } from '../packages/spec-first-server/src/process/configuration.ts';
import { startService } from '../packages/spec-first-server/src/process/service.ts';

test('lists books by title', async () => {
  const env = { PORT: '0', ACCESS_TOKENS: 't', DATABASE_URL: 'sqlite::memory:', MISSING_OPERATIONS: 'mock' };
  const { started, stop } = await startService(readConfig(env), pino({ level: 'silent' }));
  const answer = await fetch(started.url + '/books?perPage=1');
  expect(await answer.json()).toMatchObject([{ title: 'A Tale of Two Cities' }]);
  await stop();
});
`;

const folder = copyProject();
const path = (name: string) => join(folder, name);
let loop: Running | undefined;
afterAll(() => {
  end(loop);
  rmSync(folder, { recursive: true });
});

/** Replaces a text of a file that must be there. */
function edit(file: string, ...changes: readonly (readonly [before: string, after: string])[]): void {
  let text = readFileSync(path(file), 'utf8');
  for (const [before, after] of changes) {
    if (!text.includes(before)) throw new Error(`${file} has no ${before}`);
    text = text.replace(before, () => after);
  }
  writeFileSync(path(file), text);
}

/** A request with the team's token as member and, if `staff`, as staff. */
async function call(url: string, method: string, { body, staff, prefer }: Call = {}) {
  const response = await fetch(url, {
    method,
    headers: {
      Authorization: `Bearer ${TOKEN}`,
      ...(staff === true && { 'X-Staff-Key': TOKEN }),
      ...(prefer !== undefined && { Prefer: prefer }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    mocked: response.headers.has('x-mock'),
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  };
}
interface Call {
  readonly body?: unknown;
  readonly staff?: boolean;
  readonly prefer?: string;
}

test('a team that brings its own document is led by what the tools print', async () => {
  // 1. Its document takes the place of openapi.yaml.
  cpSync(join(import.meta.dirname, 'story/openapi.yaml'), path('openapi.yaml'));
  cpSync(join(import.meta.dirname, 'story/schemas'), path('schemas'), { recursive: true });
  const document = parse(readFileSync(path('openapi.yaml'), 'utf8'));
  const operations = Object.values<Record<string, { operationId?: string }>>(document.paths).flatMap((item) =>
    Object.values(item).flatMap(({ operationId }) => operationId ?? []),
  );
  expect(operations).toHaveLength(12);

  // 2. Types follow; outside the loop nothing starts that is not written.
  const generated = await run(folder, ['scripts/generate.ts']);
  expect(generated).toEqual({ code: 0, output: expect.stringContaining('generated/openapi.ts written') });
  const refused = await run(folder, ['src/main.ts']);
  expect(refused.code).toBe(1);
  for (const id of operations)
    expect(refused.output).toMatch(new RegExp(`openapi\\.yaml:\\d+:5 operation ${id} has no handler`));

  // 3. The loop asks for the document's own form of errors, and then serves all of it from the document.
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/api/v2`;
  const env = { PORT: String(port), ACCESS_TOKENS: TOKEN };
  loop = start(folder, ['scripts/dev.ts'], env);
  await loop.said(/^Not served: mend it/m);
  expect(loop.output()).toMatch(/openapi\.yaml:\d+:\d+ errorBody in src\/errors\.ts makes another body/);
  loop.forget();
  edit('src/errors.ts', ['({ error: status, message })', '({ status, title: message })']);
  edit('src/errors.ts', ["'application/json'", "'application/problem+json'"]);
  await loop.said(/^Served\./m);
  for (const id of operations)
    expect(loop.output()).toMatch(new RegExp(`^openapi\\.yaml:\\d+:5 operation ${id} has no handler`, 'm'));

  // 4. Mocks are checked as the real thing will be.
  expect(await call(`${url}/books?genre=fiction,science`, 'GET')).toMatchObject({
    status: 200,
    mocked: true,
    body: [{ isbn: '9780141439600', title: 'A Tale of Two Cities' }],
  });
  expect(await call(`${url}/books?genre=poetry`, 'GET')).toMatchObject({
    status: 400,
    body: { status: 400, title: expect.stringContaining('/query/genre/0 must be') },
  });
  expect(await call(`${url}/books/9780141439600`, 'DELETE', { staff: true })).toMatchObject({ status: 204, body: '' });
  expect(await call(`${url}/books/9780141439600`, 'DELETE')).toMatchObject({ status: 401, mocked: false });
  expect(await call(`${url}/loans`, 'POST', { body: { kind: 'boat' } })).toMatchObject({ status: 400, mocked: false });
  const prefer = { body: { kind: 'book', isbn: '9780141439600' }, prefer: 'code=409' };
  expect(await call(`${url}/loans`, 'POST', prefer)).toMatchObject({
    status: 409,
    mocked: true,
    body: { status: 404 },
  });

  // 5. Two operations are written, the plants' code goes; the compiler says what is left, until the team says that it knows.
  loop.forget();
  writeFileSync(path('src/library.ts'), HANDLERS);
  edit('src/backend.ts', ['{ openPlants }', '{ openLibrary }'], ['./plants.ts', './library.ts']);
  edit('src/backend.ts', ['= openPlants', '= openLibrary']);
  for (const plants of ['src/plants.ts', ...namedByStep5()]) rmSync(path(plants), { recursive: true });
  await loop.said(/^The types do not fit:\nsrc\/library\.ts:22:/m);
  expect(loop.output()).toMatch(/missing the following .*: addBook, getBook, replaceBook, removeBook, and 6 more/);
  loop.forget();
  edit('src/library.ts', ['operations: operations;', WRITTEN]);
  await loop.said(/^The types fit\.$/m);

  // 6. They answer, and what they need not check was checked for them.
  expect(await call(`${url}/books?genre=fiction&sort=title`, 'GET')).toMatchObject({
    status: 200,
    mocked: false,
    body: [{ title: 'A Tale of Two Cities' }, { title: 'The Monk' }],
  });
  const page = await call(`${url}/books?page=2&perPage=2`, 'GET');
  expect(page.headers.get('x-total-count')).toBe('3');
  expect(page.body).toHaveLength(1);
  expect(await call(`${url}/books?perPage=101`, 'GET')).toMatchObject({
    status: 400,
    body: { title: '/query/perPage must be <= 100' },
  });
  const loan = { kind: 'book', isbn: '9780141439600' };
  expect(await call(`${url}/loans`, 'POST', { body: loan })).toMatchObject({
    status: 201,
    body: { id: 1, what: { ...loan, weeks: 4 } },
  });
  expect(await call(`${url}/loans`, 'POST', { body: loan })).toMatchObject({ status: 409, mocked: false });
  expect(await call(`${url}/rooms`, 'GET')).toMatchObject({ mocked: true, body: [{ room: 'A12', seats: 8 }] });
  process.kill(-(loop.child.pid ?? 0), 'SIGINT');
  expect(await loop.exit).toBe(0);
  expect(groupRuns(loop)).toBe(false);

  // 7. Outside the loop it starts once it is told what to do with the rest. Types are up to date, and tests pass: the
  // team's own, and those that came with the project.
  writeFileSync(path('test/library.test.ts'), TEST);
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
  const [again, stale, tests] = await Promise.all([
    run(folder, ['src/main.ts'], env),
    run(folder, ['scripts/generate.ts', '--check']),
    run(folder, [...jest, ...CONCERNED]),
  ]);
  expect(again.code).toBe(1);
  expect(again.output).toContain(
    `openapi.yaml:${placeOf(path('openapi.yaml'), 'post:\n      operationId: addBook')} operation addBook`,
  );
  expect(again.output).not.toContain('listBooks');
  expect(stale).toMatchObject({ code: 0 });
  expect(tests).toEqual({ code: 0, output: expect.stringContaining('PASS test/library.test.ts') });
  expect(tests.output).toContain('PASS test/documents.test.ts');

  const service = start(folder, ['src/main.ts'], { ...env, MISSING_OPERATIONS: '501' });
  try {
    await service.said(/"listening"/);
    expect(await call(`${url}/rooms`, 'GET')).toMatchObject({ status: 501, mocked: false });
    expect(await call(`${url}/books`, 'GET')).toMatchObject({ status: 200, mocked: false });
  } finally {
    end(service);
  }
}, 180_000);

/** What the README's last step has a team delete. */
function namedByStep5(): string[] {
  const [, step = ''] = /^5\. (Delete [\s\S]*?)\n\n/m.exec(readFileSync(path('README.md'), 'utf8')) ?? [];
  return Array.from(step.matchAll(/`((?:src|scripts|test)\/[^`]+)`/g), ([, name = '']) => name);
}
