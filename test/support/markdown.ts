export interface Block {
  readonly language: string;
  /** The words after the language, such as `needs=docker`. Readers of the page do not see them. */
  readonly info: string;
  readonly code: string;
}

/** The parts of a Markdown text that tests compare. */
export interface Markdown {
  readonly blocks: readonly Block[];
  /** The commands, each once: lines of `sh` blocks, and code spans that begin with a program. */
  readonly commands: readonly string[];
  /**
   * Returns the rows of the table whose header starts with these cells.
   *
   * @throws {Error} if there is no such table.
   */
  table(...header: string[]): readonly (readonly string[])[];
}

const FENCE = /^( *)```(\w*)(.*)\n([\s\S]*?)^ *```$/gm;
const PROGRAM = /^(?:npm|npx|node|git|curl|docker|openssl|sqlite3)\s/;

/** Reads GitHub Flavored Markdown: §4.5 fenced code blocks, §4.10 tables, §6.3 code spans. */
export function readMarkdown(text: string): Markdown {
  const blocks = [...text.matchAll(FENCE)].map(
    ([, indent = '', language = '', info = '', code = '']) => ({
      language,
      info: info.trim(),
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
  const lines = blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) =>
      code
        .replaceAll(/\\\n\s*/g, '')
        .trim()
        .split('\n'),
    );

  const prose = text.replaceAll(FENCE, '');
  const spans: string[] = [];
  for (const [, span = ''] of prose.matchAll(/(?<!`)`([^`]+)`(?!`)/g)) {
    const code = span.replaceAll(/\s+/g, ' ');
    // `-- --check` continues the command before it.
    if (code.startsWith('-- ')) spans.push(`${spans.at(-1)} ${code}`);
    else if (PROGRAM.test(code)) spans.push(code);
  }

  const rows = prose
    .split('\n')
    .map((line) =>
      (/^\|.*\|$/.test(line) ? line.slice(1, -1).split('|') : []).map((cell) => cell.trim()),
    );
  return {
    blocks,
    commands: [...new Set([...lines, ...spans])],
    table(...header) {
      const first = rows.findIndex((row) => header.every((cell, column) => row[column] === cell));
      if (first < 0) throw new Error(`no table starts with | ${header.join(' | ')} |`);
      const body = rows.slice(first + 2);
      const end = body.findIndex((row) => row.length === 0);
      return end < 0 ? body : body.slice(0, end);
    },
  };
}
