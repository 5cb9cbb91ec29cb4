import {
  checkDocument,
  type Document,
  DocumentError,
  describeFindings,
  loadDocument,
  operationsOf,
} from 'openapi-document';

/** What the start would say about a document. Each line is `file:line:column message`. */
export interface CheckedFile {
  /** The document, if it can be served. */
  readonly document: Document | undefined;
  /** Why the server cannot serve the document. */
  readonly problems: readonly string[];
  /** Absolute paths of all files that the document consists of, also of missing ones. */
  readonly files: readonly string[];
  /** What the server does not enforce, and examples that do not fit their schemas. Reads the files for the positions. */
  notices(): readonly string[];
  /** Names operations that have no handler. Reads the files for the positions. */
  withoutHandler(operationIds: readonly string[]): readonly string[];
}

/** Checks a document as the start of the server does, except what depends on handlers and verifiers. */
export async function checkFile(file: string, allowOutside = false): Promise<CheckedFile> {
  try {
    const document = await loadDocument(file, { allowOutside });
    const operations = operationsOf(document);
    const { problems: unreadable, broken, notices, examples } = checkDocument(document, operations);
    const problems = [...unreadable, ...[...broken.values()].flat()];
    return {
      document: problems.length > 0 ? undefined : document,
      problems: linesOf(describeFindings(document, problems)),
      files: document.files ?? [],
      notices: () => linesOf(describeFindings(document, [...notices, ...examples()])),
      withoutHandler: (ids) => {
        const pointers = new Map(operations.map(({ id, pointer }) => [id, pointer]));
        const findings = ids.map((id) => ({
          pointer: pointers.get(id) ?? '',
          message: `operation ${id} has no handler`,
        }));
        return linesOf(describeFindings(document, findings));
      },
    };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const problems = linesOf(error.message);
    return { document: undefined, problems, files: error.files, notices: () => [], withoutHandler: () => [] };
  }
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));
