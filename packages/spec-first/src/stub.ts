import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { asArray, loadDocument, type Operation } from 'openapi-document';
import { ALLOW_OUTSIDE, command, documentFile, UsageError } from './command.ts';
import { handlersFile, importsOf, readHandlersFile, spreadsOf } from './handlers-file.ts';
import { propertyName, quoted, TYPES } from './types.ts';

/** The file that combines the handlers of all tags. */
const ALL_HANDLERS = 'src/handlers.ts';
const FOLDER = 'src/handlers';

const USAGE = `Usage: spec-first stub ID… | --all [--allow-outside]

Writes a stub of a handler for each operationId. A stub responds with 501. The stubs of each tag are
in a file ${FOLDER}/TAG.ts, which ${ALL_HANDLERS} imports. An existing file of a tag gets the
stubs at its end. ${ALL_HANDLERS} is changed as long as only "new" and "stub" have written it. For
other files, the lines to add are printed.
Operations with a handler in src are skipped: a member with the name of the operationId.

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
  const { operations } = document;
  const unknown = names.filter((name) => !operations.some(({ id }) => id === name));
  if (unknown.length > 0)
    throw new Error(`${document.file} has no operation ${unknown.join(', ')}`);

  const sources = globSync('src/**/*.ts')
    .sort()
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  const missing = operations.filter(({ id }) => {
    if (!isAll && !names.includes(id)) return false;
    const source = sources.find(({ text }) => memberPattern(id).test(text));
    if (source !== undefined && !isAll) console.log(`${id} has a handler in ${source.path}`);
    return source === undefined;
  });
  if (missing.length === 0) {
    console.log('Nothing is missing.');
    return 0;
  }
  const groups = [...Map.groupBy(missing, groupOf)].map(([name, members]) => ({
    name,
    ids: members.map(({ id }) => id),
  }));
  const written = groups.filter(writeGroup);
  if (written.length > 0)
    combine(
      written,
      operations.map(({ id }) => id),
    );
  return 0;
});

/**
 * Matches a member of an object or a class, such as `id(`, `'id':` or the shorthand `id,`, but not
 * an operation that is `unimplemented`.
 */
function memberPattern(id: string): RegExp {
  const names = [propertyName(id), quoted(id), JSON.stringify(id)].map(RegExp.escape);
  return new RegExp(`(?<![\\w$.])(${names.join('|')})\\s*(?!:\\s*unimplemented\\b)[(:,}=<]`);
}

/** Returns the name of the file of an operation: its first tag, or the first name of its path. */
function groupOf({ source, path }: Operation): string {
  const [tag = path.replace(/\/?\{.*/, '').split('/')[1]] = asArray(source.tags);
  const words = String(tag)
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return words?.join('-') ?? 'other';
}

interface Group {
  readonly name: string;
  readonly ids: readonly string[];
}

const fileOf = ({ name }: Group): string => `${FOLDER}/${name}.ts`;

/** The constant with the handlers of a group. */
function constantOf({ name }: Group): string {
  // Digits and some letters have no upper case: `a-1` differs from `a1`.
  const words = name.replaceAll(/-(.)/gu, (_, next: string) =>
    next.toUpperCase() === next ? `_${next}` : next.toUpperCase(),
  );
  return `${words.replace(/^\d/, '_$&')}Handlers`;
}

/** The start of the file of a group, and its last line. */
const START = `import { HttpError } from 'spec-first-server';
import type { Handlers, ReplyTo, RequestTo } from '${posix.join('../..', TYPES)}';

export const `;
const END = '} satisfies Partial<Handlers>;\n';

/** Tests if a text imports all names that stubs use, and ends after a member of an object. */
const isExtensible = (text: string): boolean =>
  ['HttpError', 'RequestTo', 'ReplyTo'].every((name) =>
    new RegExp(`^import .*\\b${name}\\b`, 'm').test(text),
  ) && text.endsWith(`,\n${END}`);

/** Tells the user to delete lines of the file with all handlers. */
const printObsolete = (ids: readonly string[]): void =>
  console.log(`In the file with all handlers, delete unimplemented lines of ${ids.join(', ')}.`);

/**
 * Adds the stubs of a group to its file, or prints them if the file exists and cannot be extended.
 * Returns true if written.
 */
function writeGroup(group: Group): boolean {
  const file = fileOf(group);
  const stubs = group.ids.map((id) => {
    const name = quoted(id);
    return `  async ${propertyName(id)}(_request: RequestTo<${name}>): Promise<ReplyTo<${name}>> {
    throw new HttpError(501, ${quoted(`${id} is not implemented yet`)});
  },
`;
  });
  const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  if (text !== undefined && !isExtensible(text)) {
    console.log(`${file} exists. Add to its handlers:\n\n${stubs.join('')}`);
    printObsolete(group.ids);
    return false;
  }
  const before =
    text === undefined ? `${START}${constantOf(group)} = {` : text.slice(0, -END.length);
  write(file, `${before}\n${stubs.join('\n')}${END}`);
  console.log(
    `${file} written: ${group.ids.join(', ')}. Each responds with 501 until you write it.`,
  );
  return true;
}

/** Writes the file that combines the handlers, or prints what to add if it has been edited. */
function combine(groups: readonly Group[], ids: readonly string[]): void {
  const text = existsSync(ALL_HANDLERS) ? readFileSync(ALL_HANDLERS, 'utf8') : handlersFile(ids);
  const added = groups
    .map((group) => ({ constant: constantOf(group), file: `handlers/${group.name}.ts` }))
    .filter(({ file }) => !text.includes(`'./${file}'`));
  const parts = readHandlersFile(text, ids);
  const stubs = groups.flatMap((group) => group.ids);
  if (parts === undefined) {
    const additions = [...importsOf(added), '\n', ...spreadsOf(added)].join('');
    if (added.length > 0) console.log(`Add to the file with all handlers:\n\n${additions}`);
    printObsolete(stubs);
    return;
  }
  write(
    ALL_HANDLERS,
    handlersFile(
      parts.unwritten.filter((id) => !stubs.includes(id)),
      [...parts.written, ...added],
    ),
  );
  console.log(`${ALL_HANDLERS} written.`);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
