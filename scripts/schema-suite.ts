/**
 * Runs the official JSON Schema Test Suite (draft 2020-12) against the service: each schema is the
 * body of an operation, and each value is sent to it.
 *
 * Usage: npm run test:suite -- FOLDER, with a checkout of json-schema-org/JSON-Schema-Test-Suite.
 * Exits with 1 if an answer is wrong and the start of the service did not log a notice about it.
 */
import { globSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createService,
  DocumentError,
  fetchHandler,
  parseJson,
  type ServiceOptions,
  stringifyJson,
} from 'spec-first-server';

interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

interface Served {
  /** The log lines about parts of the document that are not checked. */
  readonly notices: readonly string[];
  /** Returns undefined if the service does not check the value. */
  accepts(value: unknown): Promise<boolean | undefined>;
}

type Log = NonNullable<ServiceOptions['log']>;

const VERDICTS: Readonly<Record<number, boolean>> = { 204: true, 400: false };

/** Serves a schema. A schema without `$id` gets one, since `#` is the schema in the suite. */
async function serve(schema: unknown, folder: string): Promise<Served> {
  const isObject = typeof schema === 'object' && schema !== null;
  const identified = isObject ? { $id: 'https://suite.test/schema', ...schema } : schema;
  const file = join(folder, 'openapi.json');
  const content = { 'application/json': { schema: identified } };
  const responses = { 204: { description: 'valid' } };
  const operation = { operationId: 'check', requestBody: { required: true, content }, responses };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Suite', version: '1.0.0' },
    paths: { '/': { post: operation } },
  };
  writeFileSync(file, stringifyJson(document));

  const notices: string[] = [];
  const ignore = () => undefined;
  const log: Log = {
    debug: ignore,
    info: ignore,
    error: ignore,
    warn: (...line: unknown[]) => void notices.push(stringifyJson(line)),
    child: () => log,
  };
  const handlers = { check: () => ({ status: 204 }) };
  const send = await createService(file, { handlers, log }).then(fetchHandler, (error: unknown) => {
    if (!(error instanceof DocumentError)) throw error;
    notices.push(error.message);
  });
  return {
    notices,
    async accepts(value) {
      const response = await send?.(
        new Request('http://suite.test/', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: stringifyJson(value),
        }),
      );
      return VERDICTS[response?.status ?? 501];
    },
  };
}

const textOf = ({ right, wrong, notServed }: typeof total): string =>
  `${right} right, ${wrong} wrong, ${notServed} not served, with a notice`;

const [checkout] = process.argv.slice(2);
if (checkout === undefined) {
  console.error('Usage: npm run test:suite -- FOLDER');
  process.exit(2);
}
const root = join(checkout, 'tests/draft2020-12');
const files = globSync('**/*.json', { cwd: root }).sort();
if (files.length === 0) {
  console.error(`${root} has no tests: pass a checkout of JSON-Schema-Test-Suite`);
  process.exit(2);
}

using folder = mkdtempDisposableSync(join(tmpdir(), 'suite-'));
const total = { right: 0, wrong: 0, notServed: 0 };
for (const file of files) {
  const counts = { right: 0, wrong: 0, notServed: 0 };
  const groups = parseJson(readFileSync(join(root, file), 'utf8')) as readonly Group[];
  for (const { description, schema, tests } of groups) {
    const { notices, accepts } = await serve(schema, folder.path);
    for (const test of tests) {
      const isRight = (await accepts(test.data)) === test.valid;
      const otherwise = notices.length > 0 ? 'notServed' : 'wrong';
      const result = isRight ? 'right' : otherwise;
      counts[result] += 1;
      total[result] += 1;
      if (result === 'wrong') console.error(`${file}: ${description}: ${test.description}`);
    }
  }
  console.log(`${file}: ${textOf(counts)}`);
}
console.log(`All: ${textOf(total)}`);
process.exitCode = total.wrong > 0 ? 1 : 0;
