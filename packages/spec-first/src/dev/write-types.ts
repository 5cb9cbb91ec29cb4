import { checkFile } from '../check.ts';
import { messageOf } from '../command.ts';
import { firstOf, writeChanged } from '../generate.ts';
import { generateTypes, TYPES } from '../types.ts';

/**
 * Writes the types of a document, if they have changed. Resolves to all files of the document, also
 * missing ones, and to its errors and notices, or the reason why no types were written.
 */
export async function writeTypes(
  file: string,
  allowOutside: boolean,
): Promise<{ readonly files: readonly string[]; readonly text: string }> {
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
