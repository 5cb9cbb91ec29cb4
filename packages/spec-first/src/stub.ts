import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { diff } from 'node:util';
import { loadDocument, operationsOf } from 'openapi-document';
import { loadEnvFile } from 'spec-first-server';
import { command, UsageError } from './command.ts';
import { addStubs } from './stub/add-stubs.ts';

const USAGE = `Usage: spec-first stub ID… | --all [--file FILE]

Writes a handler to fill in for each of these operations, by operationId. A stub answers 501. Handlers that are there
stay as they are.

  --all         the operations that have no handler in the file
  --file FILE   the file of the handlers, src/handlers.ts by default
  --help        show this

The document is openapi.yaml, or the file that OPENAPI_FILE names.
Exit codes: 0 the handlers are there, 1 an unknown operationId or a file without handlers, 2 a wrong command line.`;

const OPTIONS = { all: { type: 'boolean' }, file: { type: 'string', default: 'src/handlers.ts' } } as const;

/** Writes stubs of handlers. Resolves to the exit code. */
export const run = command(USAGE, OPTIONS, async ({ all = false, file }, ids) => {
  if (all === ids.length > 0) throw new UsageError('Give operationIds, or --all');
  loadEnvFile();
  const known = operationsOf(await loadDocument(process.env.OPENAPI_FILE || 'openapi.yaml')).map(({ id }) => id);
  const unknown = ids.filter((id) => !known.includes(id));
  if (unknown.length > 0) throw new Error(unknown.map((id) => unknownOperation(id, known)).join('\n'));

  const { text, added } = await addStubs(file, existsSync(file) ? readFileSync(file, 'utf8') : '', all ? known : ids);
  if (added.length > 0) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  console.log(added.length > 0 ? `Added to ${file}: ${added.join(', ')}` : `${file} is unchanged: nothing is missing`);
  if (all && /\bPartial<Handlers>/.test(text)) {
    console.log('Now write Handlers instead of Partial<Handlers> there: then a missing operation does not compile.');
  }
  return 0;
});

function unknownOperation(id: string, known: readonly string[]): string {
  const changes = (other: string) =>
    diff(id.toLowerCase(), other.toLowerCase()).filter(([operation]) => operation !== 0).length;
  const [better] = known.map((other) => ({ other, count: changes(other) })).sort((a, b) => a.count - b.count);
  return `There is no operation ${id}.${better === undefined ? '' : ` Did you mean ${better.other}?`}`;
}
