import { checkDocument, checkExamples, type Document, DocumentError, loadDocument } from 'openapi-document';

/**
 * Checks a document as the start of the server does, except what depends on handlers and verifiers. `document` is undefined
 * if it cannot be served; `problems` and `notices` are lines of `file:line:column message`; `files` are all that it consists
 * of, also missing ones.
 *
 * @param first is done with the document before it is checked.
 */
export async function checkFile(file: string, allowOutside = false, first = async (_: Document): Promise<void> => {}) {
  try {
    const document = await loadDocument(file, { allowOutside });
    await first(document);
    const { problems, broken, notices } = checkDocument(document);
    return {
      document: problems.length > 0 ? undefined : document,
      problems: linesOf(document.describe([...problems, ...[...broken.values()].flat()])),
      files: document.files,
      notices: () => linesOf(document.describe([...notices, ...checkExamples(document.root)])),
    };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return { document: undefined, problems: linesOf(error.message), files: error.files, notices: () => [] };
  }
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));
