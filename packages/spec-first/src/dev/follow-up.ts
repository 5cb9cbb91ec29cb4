/** What follows a save beside the start of a server, in a process of its own: it takes seconds where the document is large. */
import { checkFile } from '../check.ts';
import { messageOf } from '../command.ts';
import { firstOf, writeChanged } from '../generate.ts';
import { generateTypes, TYPES } from '../types.ts';
import { describeTypeErrors } from './type-check.ts';

/** A save of the document, or of source files only. */
export interface Saved {
  readonly file: string;
  readonly ofDocument: boolean;
  readonly allowOutside: boolean;
}

/** What the loop is told: the document's files, or a text about a subject. */
export type News = { readonly files: readonly string[] } | { readonly subject: string; readonly text: string };

const tell = (news: News) => process.send?.(news);
let saves = 0;
let isStale = false;
let typeCheck = new AbortController();
let last = Promise.resolve();

// Ctrl-C reaches all processes. The loop ends this one.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', (saved: Saved) => {
  const turn = ++saves;
  isStale ||= saved.ofDocument;
  typeCheck.abort();
  last = last
    .then(async () => {
      if (turn === saves) await follow(saved);
    })
    .catch((error) => void tell({ subject: 'problems', text: `${saved.file}: ${messageOf(error)}` }));
});

/** Checks the document, writes its types, and checks the types of the project. A newer save goes on with what is left. */
async function follow({ file, allowOutside }: Saved): Promise<void> {
  const turn = saves;
  const checkTypes = async () => {
    typeCheck = new AbortController();
    const text = await describeTypeErrors(typeCheck.signal);
    if (turn === saves) tell({ subject: 'types', text });
  };
  if (!isStale) return checkTypes();
  isStale = false;
  const { document, problems, files, notices } = await checkFile(file, allowOutside);
  tell({ files });
  // The server says itself why it cannot start.
  if (document === undefined) return;
  writeChanged(TYPES, await generateTypes(document));
  const checked = checkTypes();
  tell({ subject: 'problems', text: problems.join('\n') });
  tell({ subject: 'notices', text: firstOf(file, notices()).join('\n') });
  await checked;
}
