import { checkDocument, type Document, DocumentError, loadDocument } from 'openapi-document';

/** What the start would say about a document. Each line is `file:line:column message`. */
export interface CheckedFile {
  /** The document, if it can be served. */
  readonly document: Document | undefined;
  /** Why the document, or some of its operations, cannot be served. */
  readonly problems: readonly string[];
  /** Absolute paths of all files that the document consists of, also of missing ones. */
  readonly files: readonly string[];
  /** What the server does not enforce, and examples that do not fit their schemas. Reads the files for the positions. */
  notices(): readonly string[];
}

/** Checks a document as the start of the server does, except what depends on handlers and verifiers. */
export async function checkFile(file: string, allowOutside = false): Promise<CheckedFile> {
  try {
    const document = await loadDocument(file, { allowOutside });
    const { problems, broken, notices, examples } = checkDocument(document);
    return {
      document: problems.length > 0 ? undefined : document,
      problems: linesOf(document.describe([...problems, ...[...broken.values()].flat()])),
      files: document.files,
      notices: () => linesOf(document.describe([...notices, ...examples()])),
    };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return { document: undefined, problems: linesOf(error.message), files: error.files, notices: () => [] };
  }
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));
