/** A thread of `spec-first dev` that writes types after a save. A large document takes seconds. */
import { parentPort, workerData } from 'node:worker_threads';
import { checkFile } from '../check.ts';
import { messageOf } from '../command.ts';
import { firstOf, writeChanged } from '../generate.ts';
import { generateTypes, TYPES } from '../types.ts';

/** The document to read. */
export interface TypesJob {
  readonly file: string;
  readonly allowOutside: boolean;
}

/** The result of a save. */
export interface TypesResult {
  /** All files of the document, also missing ones. */
  readonly files: readonly string[];
  /** The errors of operations and the notices, or the reason why no types were written. */
  readonly text: string;
}

const { file, allowOutside }: TypesJob = workerData;
let last = Promise.resolve();
let isWaiting = false;

parentPort?.on('message', () => {
  // One more run reads all saves until then.
  if (isWaiting) return;
  isWaiting = true;
  last = last.then(async () => {
    isWaiting = false;
    parentPort?.postMessage(await writeTypes());
  });
});

async function writeTypes(): Promise<TypesResult> {
  const { document, problems, files, notices } = await checkFile(file, allowOutside);
  // The server prints why it cannot start.
  if (document === undefined) return { files, text: '' };
  try {
    writeChanged(TYPES, await generateTypes(document));
    return { files, text: [...problems, ...firstOf(file, notices())].join('\n') };
  } catch (error) {
    return { files, text: `${TYPES} is not written: ${messageOf(error)}` };
  }
}
