import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { checkFile } from './check.ts';
import { ALLOW_OUTSIDE, command, documentFile } from './command.ts';
import { generateClient, generateTypes, hasUnsendableBody, TYPES } from './types.ts';

const USAGE = `Usage: spec-first generate [--client FILE] [--check] [--all] [--allow-outside]

Checks the OpenAPI document and writes its types to ${TYPES}.

  --client FILE     also write a typed client of the service
  --check           write no types; exit with 1 if a file is stale
  --allow-outside   read files outside the document's folder that it references
  --all             show all notices, with each place
  --help            show this

The document is openapi.yaml, or the file that OPENAPI_FILE names.
An error means that an operation cannot be served as declared. Notices do not change the exit code.
Exit codes: 0 the types are up to date, 1 an error or a stale file, 2 a wrong command line.`;

const OPTIONS = {
  check: { type: 'boolean' },
  all: { type: 'boolean' },
  client: { type: 'string' },
  ...ALLOW_OUTSIDE,
} as const;

/** Writes the generated types, or compares them. Resolves to the exit code. */
export const run = command(
  USAGE,
  OPTIONS,
  0,
  async ({ check, all: showsAll, client, 'allow-outside': allowOutside }) => {
    const file = documentFile();
    const checked = await checkFile(file, allowOutside);
    const { document, problems, broken } = checked;
    const count = `${problems.length} ${problems.length === 1 ? 'error' : 'errors'}`;
    for (const line of problems) console.error(line);
    if (document === undefined) {
      console.error(`${file} has ${count}. ${TYPES} is unchanged.`);
      return 1;
    }
    const notices = checked.notices(showsAll);
    for (const line of notices) console.error(line);

    const outputs = new Map([[TYPES, await generateTypes(document)]]);
    if (client !== undefined) {
      const operations = document.operations.filter(({ id }) => !broken.has(id));
      outputs.set(client, await generateClient({ ...document, operations }));
      const bodiless = operations.filter(hasUnsendableBody).map(({ id }) => id);
      const remarks = {
        'leaves out operations with an error': [...broken],
        'has no body where fetch rejects one (GET and HEAD)': bodiless,
      };
      for (const [remark, ids] of Object.entries(remarks))
        if (ids.length > 0) console.error(`${client} ${remark}: ${ids.join(', ')}`);
    }
    let exitCode = problems.length > 0 ? 1 : 0;
    for (const [path, text] of outputs) {
      if (hasText(path, text)) console.log(`${path} fits ${file}`);
      else if (check) {
        const state = existsSync(path) ? `is stale: it does not fit ${file}` : 'is missing';
        const script = `npm run generate${path === client ? ` -- --client ${client}` : ''}`;
        console.error(`${path} ${state}. Run "${script}" and commit the result.`);
        exitCode = 1;
      } else {
        writeChanged(path, text);
        console.log(`${path} written from ${file}`);
      }
    }
    if (problems.length > 0)
      console.error(`${file} has ${count}. Operations with an error respond with 501.`);
    return exitCode;
  },
);

/** Ignores the kind of line endings. */
const hasText = (path: string, text: string): boolean =>
  existsSync(path) && readFileSync(path, 'utf8').replaceAll('\r\n', '\n') === text;

export function writeChanged(path: string, text: string): void {
  if (hasText(path, text)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
