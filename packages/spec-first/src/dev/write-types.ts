import { checkFile } from '../check.ts';
import { messageOf } from '../command.ts';
import { writeChanged } from '../generate.ts';
import { generateTypes, TYPES } from '../types.ts';

/**
 * Writes the types of a document, if they have changed. Resolves to the files of the document,
 * including missing ones, and to a text: the errors and notices of the document, or the reason why
 * no types were written. The text is empty for a document that cannot be served.
 */
export async function writeTypes(file: string, allowOutside: boolean) {
  const { document, problems, files, notices } = await checkFile(file, allowOutside);
  // The server prints why it cannot start.
  if (document === undefined) return { files, text: '' };
  try {
    writeChanged(TYPES, await generateTypes(document));
    return { files, text: [...problems, ...notices()].join('\n') };
  } catch (error) {
    return { files, text: `${TYPES} is not written: ${messageOf(error)}` };
  }
}
