/** What follows a save beside the start of a server, in a process of its own: it takes seconds where the document is large. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type CheckedFile, checkFile } from '../check.ts';
import { messageOf } from '../command.ts';
import { lintDocument, withLintMessages } from '../lint.ts';
import { remarks } from '../remarks.ts';
import { generateTypes, TYPES } from '../types.ts';
import { describeMissing } from './missing.ts';

/** A save. */
export interface Saved {
  /** The document. */
  readonly file: string;
  /** Whether the document was saved. */
  readonly fileSaved: boolean;
  readonly allowOutside: boolean;
}

/** How the start after the last save ended. */
export interface Outcome {
  /** The document. */
  readonly file: string;
  /** Whether all notices and warnings are shown. */
  readonly all: boolean;
  /** Whether operations without a handler are mocked. */
  readonly mocked: boolean;
  /** The ids of these operations. */
  readonly missing: readonly string[];
  /** Why the server could not start, as far as it said; `undefined` if it serves. */
  readonly failure: string | undefined;
}

/** What the loop is told. */
export type News =
  /** The document's files. */
  | { readonly files: readonly string[] }
  | { readonly text: string }
  /** The types fit the document. */
  | { readonly typesWritten: true }
  /** Why the server could not start. */
  | { readonly failure: string };

const said = new Map<string, string>();
/** What does not follow the last save of the document yet. */
const stale = new Set<'types' | 'notices'>();
let saves = 0;
let checked: Promise<CheckedFile> | undefined;
let followed: Promise<void> = Promise.resolve();

// Ctrl-C reaches all processes. The loop ends this one.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', (message: Saved | Outcome) => {
  const isSave = 'fileSaved' in message;
  const done = isSave ? follow(message) : report(message);
  if (isSave) followed = done;
  done.catch((error: unknown) => tell({ text: `${message.file} is not followed further: ${messageOf(error)}` }));
});

/** Checks the document and writes its types. A newer save goes on with what is left. */
async function follow({ file, fileSaved, allowOutside }: Saved): Promise<void> {
  const turn = ++saves;
  if (fileSaved || checked === undefined) {
    stale.add('types').add('notices');
    checked = checkFile(file, allowOutside);
    tell({ files: (await checked).files });
  }
  const { document } = await checked;
  if (turn === saves && document !== undefined && stale.delete('types')) await writeTypes(document);
  if (turn === saves) tell({ typesWritten: true });
}

async function report({ file, all, mocked, missing, failure }: Outcome): Promise<void> {
  const turn = saves;
  const { problems, withoutHandler, notices } = (await checked) ?? (await checkFile(file));
  // The server finds the same problems. The linter says more about some of them.
  const isFault = failure !== undefined && problems.length > 0;
  const why = isFault ? withLintMessages(problems, await lintDocument(file)).join('\n') : failure;
  if (turn !== saves) return;
  if (why === undefined) {
    // Each concerns an operation that answers 501.
    sayOnce('problems', problems.join('\n'));
    sayOnce('missing', describeMissing(missing, mocked, withoutHandler));
  } else tell({ failure: why });

  await followed;
  if (why !== undefined || turn !== saves || !stale.delete('notices')) return;
  const lint = await lintDocument(file);
  sayOnce('notices', remarks(file, notices(), lint, all).join('\n'));
}

async function writeTypes(document: Parameters<typeof generateTypes>[0]): Promise<void> {
  try {
    const types = await generateTypes(document);
    if (existsSync(TYPES) && readFileSync(TYPES, 'utf8') === types) return;
    mkdirSync(dirname(TYPES), { recursive: true });
    writeFileSync(TYPES, types);
  } catch (error) {
    tell({ text: `${TYPES} is unchanged: ${messageOf(error)}` });
  }
}

/** Says a text about a subject, unless it was the last one about it. */
function sayOnce(subject: string, text: string): void {
  if (text !== said.get(subject)) tell({ text });
  said.set(subject, text);
}

function tell(news: News): void {
  process.send?.(news);
}
