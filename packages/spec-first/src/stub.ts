import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { diff } from 'node:util';
import { loadDocument } from 'openapi-document';
import { loadEnvFile } from 'spec-first-server';
import { command, OUTSIDE, UsageError } from './command.ts';
import { addStubs, handledIn } from './handlers-file.ts';

const USAGE = `Usage: spec-first stub ID… | --all [--file FILE] [--allow-outside]

Writes a handler to fill in for each of these operations, by operationId. A stub answers 501. Operations with a handler in
the file or in another one in src are left out.

  --all             the operations that have no handler
  --file FILE       the file of the handlers, src/handlers.ts by default
  --allow-outside   read files outside the document's folder that it references
  --help            show this

The document is openapi.yaml, or the file that OPENAPI_FILE names.
Exit codes: 0 the handlers are there, 1 an unknown operationId or a file without handlers, 2 a wrong command line.`;

const OPTIONS = { all: { type: 'boolean' }, file: { type: 'string', default: 'src/handlers.ts' }, ...OUTSIDE } as const;

/** Writes stubs of handlers. Resolves to the exit code. */
export const run = command(USAGE, OPTIONS, Number.POSITIVE_INFINITY, async (values, ids) => {
  const { all = false, file, 'allow-outside': allowOutside } = values;
  if (all === ids.length > 0) throw new UsageError('Give operationIds, or --all');
  loadEnvFile();
  const document = await loadDocument(process.env.OPENAPI_FILE || 'openapi.yaml', { allowOutside });
  const known = document.operations.map(({ id }) => id);
  const unknown = ids.filter((id) => !known.includes(id));
  const changes = (one: string, other: string) =>
    diff(one.toLowerCase(), other.toLowerCase()).filter(([operation]) => operation !== 0).length;
  const nearest = (id: string) => known.toSorted((one, other) => changes(id, one) - changes(id, other))[0];
  const messages = unknown.map(
    (id) => `There is no operation ${id}. Did you mean ${nearest(id) ?? 'another document'}?`,
  );
  if (messages.length > 0) throw new Error(messages.join('\n'));

  const current = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const others = globSync('src/**/*.ts').filter((path) => resolve(path) !== resolve(file));
  const textOf = (path: string) => (path === file ? current : readFileSync(path, 'utf8'));
  const handled = new Map(
    [...others, file].flatMap((path) => handledIn(path, textOf(path)).map((id) => [id, path] as const)),
  );
  for (const id of ids.filter((name) => handled.has(name))) console.log(`${id} has a handler in ${handled.get(id)}`);
  const added = (all ? known : ids).filter((id) => !handled.has(id));
  if (added.length === 0) console.log(`${file} is unchanged: nothing is missing`);
  else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, addStubs(file, current, added));
    console.log(`Added to ${file}: ${added.join(', ')}. Until they are written, they answer 501 instead of a mock.`);
  }
  const isComplete = all && [...handled.values()].every((path) => path === file);
  if (isComplete && /\bPartial<Handlers>/.test(readFileSync(file, 'utf8'))) {
    console.log('Now write Handlers instead of Partial<Handlers> there: then a missing operation does not compile.');
  }
  return 0;
});
