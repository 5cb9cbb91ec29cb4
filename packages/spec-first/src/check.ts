import {
  checkDocument,
  checkExamples,
  type Document,
  DocumentError,
  loadDocument,
} from 'openapi-document';

/** The result of a check. Lines are `file:line:column message`. */
interface Checked {
  /** Undefined if the document cannot be served. */
  readonly document: Document | undefined;
  readonly problems: readonly string[];
  /** All files of the document, also missing ones. */
  readonly files: readonly string[];
  readonly notices: () => readonly string[];
}

/** Checks a document as the start of the server does, without handlers and verifiers. */
export async function checkFile(file: string, allowOutside = false): Promise<Checked> {
  try {
    const document = await loadDocument(file, { allowOutside });
    const { problems, broken, notices } = checkDocument(document);
    return {
      document: problems.length > 0 ? undefined : document,
      problems: splitLines(document.describe([...problems, ...[...broken.values()].flat()])),
      files: document.files,
      notices: () => splitLines(document.describe([...notices, ...checkExamples(document.root)])),
    };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const problems = splitLines(error.message);
    return { document: undefined, problems, files: error.files, notices: () => [] };
  }
}

const splitLines = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));
