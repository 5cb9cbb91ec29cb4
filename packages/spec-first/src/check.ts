import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import {
  checkDocument,
  checkExamples,
  type Document,
  DocumentError,
  type Formats,
  loadDocument,
} from 'openapi-document';

/** The result of a check. Problems and notices are lines of `file:line:column message`. */
interface CheckResult {
  /** `undefined` if the document cannot be served at all. */
  readonly document: Document | undefined;
  /** The formats of the project. */
  readonly formats?: Formats | undefined;
  readonly problems: readonly string[];
  /** The ids of the operations that have errors. */
  readonly broken: ReadonlySet<string>;
  /** Absolute paths of the files of the document, including missing ones. */
  readonly files: readonly string[];
  /** If there are more than `limit`, notices with the same message are one line. */
  readonly notices: (limit?: number) => readonly string[];
}

/** Loads and checks a document. The start of a server also checks handlers and verifiers. */
export async function checkFile(file: string, allowOutside = false): Promise<CheckResult> {
  try {
    const document = await loadDocument(file, { allowOutside });
    const formats = await serviceFormats();
    const { problems, broken, notices } = checkDocument(document, { formats });
    return {
      document: problems.length > 0 ? undefined : document,
      formats,
      problems: splitLines(document.describe([...problems, ...[...broken.values()].flat()])),
      broken: new Set(broken.keys()),
      files: document.files,
      notices: (limit = Number.POSITIVE_INFINITY) => {
        const findings = [...notices, ...checkExamples(document.root, formats)];
        return splitLines(document.describe(document.merge(findings, limit)));
      },
    };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const problems = splitLines(error.message);
    const { files } = error;
    return { document: undefined, problems, broken: new Set(), files, notices: () => [] };
  }
}

/** Custom formats of the service, which a project may keep in this module. */
const FORMATS = 'src/formats.ts';

/** @returns `formats` of the project's module, if it exists. */
async function serviceFormats(): Promise<Formats | undefined> {
  if (!existsSync(FORMATS)) return undefined;
  const module: { readonly formats?: Formats } = await import(pathToFileURL(FORMATS).href);
  return module.formats;
}

const splitLines = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));
