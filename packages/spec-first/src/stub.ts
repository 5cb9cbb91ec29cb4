import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { loadDocument, operationsOf } from 'openapi-document';
import { loadEnvFile } from 'spec-first-server';
import { addStubs } from './stub/add-stubs.ts';
import { nearest } from './stub/nearest.ts';

const USAGE = `Usage: spec-first stub ID… | --all [--file FILE]

Writes a handler to fill in for each of these operations, by operationId. A stub answers 501. Handlers that are there
stay as they are.

  --all         the operations that have no handler in the file
  --file FILE   the file of the handlers, src/handlers.ts by default
  --help        show this

The document is openapi.yaml, or the file that OPENAPI_FILE names.
Exit codes: 0 the handlers are there, 1 an unknown operationId or a file without handlers, 2 a wrong command line.`;

/** Writes stubs of handlers. Resolves to the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  let ids: readonly string[];
  let all: boolean;
  let file: string;
  try {
    const options = { all: { type: 'boolean' }, file: { type: 'string' }, help: { type: 'boolean' } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help) {
      console.log(USAGE);
      return 0;
    }
    ids = positionals;
    all = values.all ?? false;
    file = values.file ?? 'src/handlers.ts';
    if (all === ids.length > 0) throw new Error('Give operationIds, or --all');
  } catch (error) {
    console.error(`${messageOf(error)}\n\n${USAGE}`);
    return 2;
  }
  try {
    loadEnvFile();
    const known = operationsOf(await loadDocument(process.env.OPENAPI_FILE || 'openapi.yaml')).map(({ id }) => id);
    const unknown = ids.filter((id) => !known.includes(id));
    if (unknown.length > 0) throw new Error(unknown.map((id) => unknownOperation(id, known)).join('\n'));

    const { text, added } = await addStubs(file, existsSync(file) ? readFileSync(file, 'utf8') : '', all ? known : ids);
    if (added.length > 0) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    console.log(
      added.length > 0 ? `Added to ${file}: ${added.join(', ')}` : `${file} is unchanged: nothing is missing`,
    );
    if (all && /\bPartial<Handlers>/.test(text)) {
      console.log('Now write Handlers instead of Partial<Handlers> there: then a missing operation does not compile.');
    }
    return 0;
  } catch (error) {
    console.error(messageOf(error));
    return 1;
  }
}

function unknownOperation(id: string, known: readonly string[]): string {
  const better = nearest(id, known);
  return `There is no operation ${id}.${better === undefined ? '' : ` Did you mean ${better}?`}`;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
