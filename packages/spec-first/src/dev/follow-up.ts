/** What follows a start of the server, in a process of its own: it takes seconds where the document is large. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { type CheckedFile, checkFile } from '../check.ts';
import { lintDocument, withLintMessages } from '../lint.ts';
import { remarks } from '../remarks.ts';
import { generateTypes, TYPES } from '../types.ts';
import { describeTypeErrors } from './compiler.ts';
import { describeMissing } from './missing.ts';

/** How a start ended. */
export interface Outcome {
  /** The document. */
  readonly file: string;
  /** Whether it was saved since the last outcome. */
  readonly fileSaved: boolean;
  /** Whether all notices and warnings are shown. */
  readonly all: boolean;
  /** Whether operations without a handler are mocked. */
  readonly mocked: boolean;
  /** The ids of these operations. */
  readonly missing: readonly string[];
  /** Why the server could not start, as far as it said; `undefined` if it serves. */
  readonly failure: string | undefined;
}

/** What the loop is told: the document's files, what to print, or why the server could not start. */
export type News = { readonly files: readonly string[] } | { readonly text: string } | { readonly failure: string };

const said = new Map<string, string>();
/** What does not follow the last save of the document yet. */
const stale = new Set<'types' | 'notices'>();
let checked: CheckedFile | undefined;
let next: Outcome | undefined;
let following = false;

// Ctrl-C reaches all processes. The loop ends this one.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', async (outcome: Outcome) => {
  next = { ...outcome, fileSaved: outcome.fileSaved || next?.fileSaved === true };
  if (following) return;
  following = true;
  while (next !== undefined) {
    const current: Outcome = next;
    next = undefined;
    await reportStart(current).catch((error: unknown) => {
      tell({ text: `${current.file} is not followed further: ${messageOf(error)}` });
    });
  }
  following = false;
});

/** A newer outcome goes on with what is left. */
async function reportStart({ file, fileSaved, all, mocked, missing, failure }: Outcome): Promise<void> {
  if (fileSaved || checked === undefined) {
    stale.add('types').add('notices');
    checked = await checkFile(file);
    tell({ files: checked.files });
  }
  const { problems, locations, notices } = checked;
  // The server finds the same problems. The linter says more about some of them.
  const isFault = failure !== undefined && problems.length > 0;
  const why = isFault ? withLintMessages(problems, await lintDocument(file)).join('\n') : failure;
  if (await isReplaced()) return;
  if (why === undefined) sayOnce('missing', describeMissing(missing, mocked, locations));
  else tell({ failure: why });

  if (await isReplaced()) return;
  if (problems.length === 0 && stale.delete('types')) await writeTypes(file);
  if (await isReplaced()) return;
  sayOnce('types', describeTypeErrors());
  if (why !== undefined || (await isReplaced()) || !stale.delete('notices')) return;
  const lint = await lintDocument(file);
  sayOnce('notices', remarks(file, notices(), all ? lint.describe() : lint.count, all).join('\n'));
}

async function isReplaced(): Promise<boolean> {
  await turn();
  return next !== undefined;
}

async function writeTypes(file: string): Promise<void> {
  try {
    const types = await generateTypes(file);
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

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
