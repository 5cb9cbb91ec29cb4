import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { diff, parseArgs, styleText } from 'node:util';
import { loadEnvFile } from 'spec-first-server';
import { describeFinding, lintDocument } from './lint.ts';
import { generateTypes } from './types.ts';

const TYPES = 'generated/openapi.ts';

const USAGE = `npm run generate [-- --check]

Lints the OpenAPI document and writes its types to ${TYPES}.

  --check   write nothing; exit with 1 and show the difference if ${TYPES} is stale
  --help    show this

The document is openapi.yaml, or what OPENAPI_FILE names.`;

export async function run(args: readonly string[]): Promise<number> {
  let check: boolean;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { check: { type: 'boolean' }, help: { type: 'boolean' } },
    });
    if (values.help) {
      console.log(USAGE);
      return 0;
    }
    check = values.check ?? false;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    return 2;
  }
  try {
    loadEnvFile();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
  const file = process.env.OPENAPI_FILE || 'openapi.yaml';

  const started = performance.now();
  const { findings } = await lintDocument(file);
  for (const finding of findings) console.error(describeFinding(finding));
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  if (errors > 0) {
    console.error(`${file} has ${errors === 1 ? 'an error' : `${errors} errors`}, ${TYPES} stays as it is`);
    return 1;
  }
  const current = existsSync(TYPES) ? readFileSync(TYPES, 'utf8').replaceAll('\r\n', '\n') : undefined;
  let types: string;
  try {
    types = await generateTypes(file);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }

  if (current === types) {
    console.log(`${TYPES} fits ${file} (${Math.round(performance.now() - started)} ms)`);
    return 0;
  }
  if (!check) {
    mkdirSync(dirname(TYPES), { recursive: true });
    writeFileSync(TYPES, types);
    console.log(`${TYPES} written from ${file} (${Math.round(performance.now() - started)} ms)`);
    return 0;
  }
  if (current !== undefined) console.log(difference(current, types));
  console.error(
    `${TYPES} ${current === undefined ? 'is missing' : `is stale, ${file} says otherwise`}: run "npm run generate" and commit the result`,
  );
  return 1;
}

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
