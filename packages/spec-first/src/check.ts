import {
  checkDocument,
  checkExamples,
  type Document,
  DocumentError,
  describeFindings,
  type Finding,
  loadDocument,
  operationsOf,
} from 'openapi-document';

/** What the start would say about a document. Each entry is `file:line:column message`. */
export interface CheckedFile {
  /** Why the server cannot serve the document. */
  readonly problems: readonly string[];
  /** What the document declares and the server does not enforce. */
  readonly notices: readonly string[];
  /** Examples that do not fit their schemas, in the same form. Reads the files again for the positions. */
  examples(): readonly string[];
  /** Absolute paths of all files that the document consists of, also of missing ones. */
  readonly files: readonly string[];
}

/** Checks a document as the start of the server does, except what depends on handlers and verifiers. */
export async function checkFile(file: string): Promise<CheckedFile> {
  try {
    const document = await loadDocument(file);
    const operations = operationsOf(document);
    const { problems, notices } = checkDocument(document, operations);
    const { files = [] } = document;
    const examples = () => linesOf(document, checkExamples(document, operations));
    return { problems: linesOf(document, problems), notices: linesOf(document, notices), examples, files };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return { problems: error.message.split('\n'), notices: [], examples: () => [], files: error.files };
  }
}

const linesOf = (document: Document, findings: readonly Finding[]): readonly string[] =>
  findings.length === 0 ? [] : describeFindings(document, findings).split('\n');
