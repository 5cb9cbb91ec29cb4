import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadDocument } from 'openapi-document';
import { ALLOW_OUTSIDE, command, documentFile, UsageError } from './command.ts';
import { addStubs, readHandlers } from './handlers-file.ts';

/** The file for the stubs. Not used if only other files have an object for all handlers. */
const DEFAULT_FILE = join('src', 'handlers.ts');

const USAGE = `Usage: spec-first stub ID… | --all [--allow-outside]

Adds a stub of a handler for each operationId. A stub answers 501. Operations that have a handler
in src are skipped. The stubs are added to the file in src with an object of type Handlers, or to
${DEFAULT_FILE}.

  --all             all operations without a handler
  --allow-outside   read files outside the document's folder that it references
  --help            show this

The document is openapi.yaml, or the file that OPENAPI_FILE names.
Exit codes: 0 each named operation has a handler or a stub, 1 an error, such as an unknown
operationId, 2 a wrong command line.`;

const OPTIONS = { all: { type: 'boolean' }, ...ALLOW_OUTSIDE } as const;

/** Writes stubs of handlers. Resolves to the exit code. */
export const run = command(USAGE, OPTIONS, Number.POSITIVE_INFINITY, async (values, names) => {
  const { all: isAll = false, 'allow-outside': allowOutside } = values;
  if (isAll === names.length > 0) throw new UsageError('Name operationIds, or use --all');
  const document = await loadDocument(documentFile(), { allowOutside });
  const declared = document.operations.map(({ id }) => id);
  const ids = isAll ? declared : [...new Set(names)];
  const unknown = ids.filter((id) => !declared.includes(id));
  if (unknown.length > 0)
    throw new Error(`${document.file} has no operation ${unknown.join(', ')}`);

  const handlers = globSync('src/**/*.ts')
    .sort()
    .map((path) => ({ path, ...readHandlers(path, readFileSync(path, 'utf8')) }));
  const candidates = handlers.filter(({ start }) => start !== undefined).map(({ path }) => path);
  const file = candidates.includes(DEFAULT_FILE) ? DEFAULT_FILE : (candidates[0] ?? DEFAULT_FILE);
  const fileOf = new Map(
    handlers.flatMap(({ path, operationIds }) => operationIds.map((id) => [id, path] as const)),
  );
  for (const id of names) {
    if (fileOf.has(id)) console.log(`${id} has a handler in ${fileOf.get(id)}`);
  }

  const missing = ids.filter((id) => !fileOf.has(id));
  if (missing.length === 0) {
    console.log(`${file} is unchanged: nothing is missing`);
    return 0;
  }
  const current = existsSync(file) ? readFileSync(file, 'utf8') : '';
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, addStubs(file, current, missing));
  console.log(`Added to ${file}: ${missing.join(', ')}. They answer 501 until they are written.`);
  return 0;
});
