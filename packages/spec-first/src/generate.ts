import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { diff, parseArgs, styleText } from 'node:util';
import { loadEnvFile } from 'spec-first-server';
import { checkFile } from './check.ts';
import { lintDocument, withLintMessages } from './lint.ts';
import { counted, remarks } from './remarks.ts';
import { generateTypes, TYPES } from './types.ts';

const USAGE = `Usage: spec-first generate [--check] [--all]

Checks the OpenAPI document and writes its types to ${TYPES}.

  --check   write nothing; exit with 1 and show the difference if ${TYPES} is stale
  --all     show all notices, and all warnings of the linter
  --help    show this

The document is openapi.yaml, or the file that OPENAPI_FILE names.
Exit codes: 0 the types fit, 1 the document has an error or the types are stale, 2 a wrong command line.`;

/** Writes the generated types, or compares them. @returns the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const options = { check: { type: 'boolean' }, all: { type: 'boolean' }, help: { type: 'boolean' } } as const;
  let values: { check?: boolean; all?: boolean; help?: boolean };
  try {
    values = parseArgs({ args: [...args], options }).values;
  } catch (error) {
    console.error(`${messageOf(error)}\n\n${USAGE}`);
    return 2;
  }
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  try {
    loadEnvFile();
    return await generate(process.env.OPENAPI_FILE || 'openapi.yaml', values);
  } catch (error) {
    console.error(messageOf(error));
    return 1;
  }
}

async function generate(file: string, { check = false, all = false }): Promise<number> {
  const started = performance.now();
  const [{ problems, notices, examples }, lint] = await Promise.all([checkFile(file), lintDocument(file)]);
  if (problems.length > 0) {
    const lines = withLintMessages(problems, lint);
    console.error(lines.join('\n'));
    console.error(`${file} has ${counted(lines.length, 'error', 'errors')}. ${TYPES} is unchanged.`);
    return 1;
  }
  for (const line of remarks(file, [...notices, ...examples()], all ? lint.describe() : lint.count, all))
    console.error(line);

  const types = await generateTypes(file);
  const current = existsSync(TYPES) ? readFileSync(TYPES, 'utf8').replaceAll('\r\n', '\n') : undefined;
  const time = `${Math.round(performance.now() - started)} ms`;
  if (current === types) {
    console.log(`${TYPES} fits ${file} (${time})`);
    return 0;
  }
  if (!check) {
    mkdirSync(dirname(TYPES), { recursive: true });
    writeFileSync(TYPES, types);
    console.log(`${TYPES} written from ${file} (${time})`);
    return 0;
  }
  if (current !== undefined) console.log(difference(current, types));
  const state = current === undefined ? 'is missing' : `is stale: ${file} has changed`;
  console.error(`${TYPES} ${state}. Run "npm run generate" and commit the result.`);
  return 1;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The lines that differ, with two lines around them. */
function difference(before: string, after: string): string {
  const lines = diff(after.split('\n'), before.split('\n'));
  const near = (at: number) => lines.slice(Math.max(0, at - 2), at + 3).some(([operation]) => operation !== 0);
  return lines
    .flatMap(([operation, line], index) => {
      if (operation === 1) return [styleText('green', `+ ${line}`)];
      if (operation === -1) return [styleText('red', `- ${line}`)];
      return near(index) ? [`  ${line}`] : near(index - 1) ? ['  …'] : [];
    })
    .join('\n');
}
