import { relative } from 'node:path';
import type { NormalizedProblem } from '@redocly/openapi-core';
import { describeFindings } from 'openapi-document';

/** What the linter says about a document. */
export interface LintResult {
  /** The number of warnings. */
  readonly count: number;
  /** The warnings of misspelt names, for which there is a better one. Reads the files again, if there are such. */
  misspelt(): readonly string[];
  /** The warnings as `file:line:column rule message`. Reads the files again: ask for it only to print it. */
  describe(): readonly string[];
}

/** Rules about what the server does without (a name is made for each operation), or what the check of examples does. */
const OTHERS = [
  'operation-operationId',
  'operation-operationId-url-safe',
  'no-invalid-media-type-examples',
  'no-invalid-parameter-examples',
  'no-invalid-schema-examples',
];

/** Lints an OpenAPI document and the files that it references by Redocly's recommended rules. Webhooks are left out. */
export async function lintDocument(file: string): Promise<LintResult> {
  const { BaseResolver, createConfig, lint } = await import('@redocly/openapi-core');
  const config = await createConfig({
    extends: ['recommended'],
    rules: Object.fromEntries(OTHERS.map((rule) => [rule, 'off'])),
  });
  const externalRefResolver = new BaseResolver({ http: { headers: [], customFetch: fetchNothing } });
  let problems: readonly NormalizedProblem[] = [];
  try {
    problems = await lint({ ref: file, config, externalRefResolver });
  } catch {
    // The document cannot be read. The check of the document says why.
  }
  const distinct = new Map(
    problems
      .filter(({ ignored, location: [location] }) => !ignored && !location?.pointer?.startsWith('#/webhooks/'))
      .map((problem) => [
        `${problem.location[0]?.source.absoluteRef} ${problem.location[0]?.pointer} ${textOf(problem)}`,
        problem,
      ]),
  );
  const all = [...distinct.values()];
  return {
    count: all.length,
    misspelt: () => describe(file, all.filter(isMisspelt)),
    describe: () => describe(file, all),
  };
}

const isMisspelt = ({ message, suggest }: NormalizedProblem): boolean =>
  suggest.length > 0 && message.includes('is not expected here');

/** Redocly opens each URL that looks like a reference, also in examples and extensions. */
async function fetchNothing(url: string): Promise<never> {
  throw new Error(`${url} is not fetched: the tools open no connection`);
}

/** Redocly's own positions take seconds in a large document: it counts lines from the start for each of them. */
function describe(file: string, problems: readonly NormalizedProblem[]): string[] {
  const findings = problems.map((problem) => ({
    file: relative('', problem.location[0]?.source.absoluteRef ?? file),
    pointer: problem.location[0]?.pointer ?? '',
    message: textOf(problem),
  }));
  return findings.length === 0 ? [] : describeFindings({ file, root: {} }, findings).split('\n');
}

function textOf({ ruleId, message, suggest: [better] }: NormalizedProblem): string {
  const hint = better === undefined ? '' : ` Did you mean ${better}?`;
  return `${ruleId} ${message}${hint}`.replace(/\s+/g, ' ').trim();
}

/** The rule whose messages say more than the server's about the same place. */
const CLEARER = /^\S+ struct /;

/**
 * Replaces problems of the server's check by what the linter says about the same line, where that is clearer.
 *
 * @param problems lines `file:line:column message`.
 */
export function withLintMessages(problems: readonly string[], lint: LintResult): string[] {
  const clearer = lint.describe().filter((warning) => CLEARER.test(warning));
  const byLine = Map.groupBy(clearer, lineIn);
  return [...new Set(problems.flatMap((problem) => byLine.get(lineIn(problem)) ?? [problem]))];
}

/** `file:line` of a line `file:line:column message`. */
const lineIn = (text: string): string => /^.*?:\d+(?=:\d+ )/.exec(text)?.[0] ?? text;
