import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import {
  Codecs,
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
  readonly problems: readonly string[];
  /** The ids of the operations that have errors. */
  readonly broken: ReadonlySet<string>;
  /** Absolute paths of the files of the document, including missing ones. */
  readonly files: readonly string[];
  /** Unless all are shown, there are few lines: those with the same message are one. */
  readonly notices: (showsAll?: boolean) => readonly string[];
}

/** The number of notices that are shown by default. */
const MAX_NOTICES = 10;

/** Returns the first notices, and the number of the others. */
export function firstNotices(file: string, notices: readonly string[]): readonly string[] {
  const rest = notices.length - MAX_NOTICES;
  if (rest <= 0) return notices;
  const word = rest === 1 ? 'notice' : 'notices';
  return [
    ...notices.slice(0, MAX_NOTICES),
    `${file} has ${rest} more ${word}. "npm run generate -- --all" shows all, with each place.`,
  ];
}

/** Loads and checks a document. The start of a server also checks handlers and verifiers. */
export async function checkFile(file: string, allowOutside = false): Promise<CheckResult> {
  try {
    const formats: Formats | undefined = await exportOf('formats');
    const document = await loadDocument(file, { allowOutside, formats });
    const codecs = new Codecs(await exportOf('codecs'));
    const { problems, broken, notices } = checkDocument(document, codecs);
    return {
      document: problems.length > 0 ? undefined : document,
      problems: splitLines(document.describe([...problems, ...[...broken.values()].flat()])),
      broken: new Set(broken.keys()),
      files: document.files,
      notices: (showsAll = false) => {
        const findings = [...notices, ...checkExamples(document.schemas)];
        if (showsAll) return splitLines(document.describe(findings));
        const merged = document.merge(findings, MAX_NOTICES);
        return firstNotices(file, splitLines(document.describe(merged)));
      },
    };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const problems = splitLines(error.message);
    const { files } = error;
    return { document: undefined, problems, broken: new Set(), files, notices: () => [] };
  }
}

/**
 * Reads an option of the service that a project may keep in a module of its own, such as `formats`
 * in `src/formats.ts`.
 */
async function exportOf(name: 'formats' | 'codecs') {
  const file = `src/${name}.ts`;
  return existsSync(file) ? (await import(pathToFileURL(file).href))[name] : undefined;
}

const splitLines = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));
