import { relative } from 'node:path';
import type { NormalizedProblem } from '@redocly/openapi-core';

/** What a linter has to say about one place of a document. Lines and columns count from 1. */
export interface Finding {
  /** Relative to the working directory; a file that the document references, where the fault is there. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The name of a Redocly rule, or `document` where the document cannot be read at all. */
  readonly rule: string;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

export interface LintResult {
  /** Errors and warnings in the order in which they were found; empty for a clean document. */
  readonly findings: readonly Finding[];
  /** Absolute paths of all files that were read or were to be read: the ones to watch. */
  readonly files: readonly string[];
}

/**
 * Rules of Redocly's that are graded otherwise here. An operationId is what types and handlers go by. What is a matter of
 * taste keeps no document from being served.
 */
const GRADES = {
  'operation-operationId': 'error',
  'operation-summary': 'warn',
  'security-defined': 'warn',
  'no-empty-servers': 'warn',
  'no-server-trailing-slash': 'warn',
  'no-path-trailing-slash': 'warn',
} as const;

/** Findings that concern webhooks, which are not served. */
const ofWebhooks = ({ ruleId, location }: NormalizedProblem): boolean =>
  ruleId in GRADES && location[0]?.pointer?.startsWith('#/webhooks/') === true;

/**
 * Lints an OpenAPI document and the files that it references under Redocly's recommended rules, graded for a server. A
 * document that cannot be read is a finding too, never a throw.
 */
export async function lintDocument(file: string): Promise<LintResult> {
  const { BaseResolver, createConfig, getLineColLocation, lint } = await import('@redocly/openapi-core');
  const config = await createConfig({ extends: ['recommended'], rules: GRADES });
  const resolver = new BaseResolver(config.resolve);
  const findingOf = ({ ruleId, message, suggest, severity, location: [location] }: NormalizedProblem): Finding => {
    const place = location && getLineColLocation(location);
    const better = suggest[0] === undefined ? '' : ` Did you mean ${suggest[0]}?`;
    return {
      file: relative('', place?.source.absoluteRef ?? file),
      line: place?.start.line ?? 1,
      column: place?.start.col ?? 1,
      rule: ruleId,
      message: oneLine(message + better),
      severity: severity === 'warn' ? 'warning' : 'error',
    };
  };
  let findings: Finding[];
  try {
    const problems = await lint({ ref: file, config, externalRefResolver: resolver });
    findings = problems.filter((problem) => problem.ignored !== true && !ofWebhooks(problem)).map(findingOf);
  } catch (error) {
    findings = [unreadable(file, error)];
  }
  const distinct = new Map(findings.map((finding) => [describeFinding(finding), finding]));
  return { findings: [...distinct.values()], files: [...resolver.getFiles()] };
}

/** `file:line:column rule message`, with a mark on what is only a warning. */
export function describeFinding({ file, line, column, rule, message, severity }: Finding): string {
  return `${file}:${line}:${column} ${rule} ${message}${severity === 'warning' ? ' (warning)' : ''}`;
}

/** A syntax error knows its place; for anything else the top of the file has to do. */
function unreadable(file: string, error: unknown): Finding {
  const place: { line?: unknown; col?: unknown } = typeof error === 'object' && error !== null ? error : {};
  const number = (value: unknown) => (typeof value === 'number' && value > 0 ? value : 1);
  return {
    file: relative('', file),
    line: number(place.line),
    column: number(place.col),
    rule: 'document',
    message: oneLine(error instanceof Error ? error.message : String(error)),
    severity: 'error',
  };
}

/** Without line breaks, and without the place that a parser adds. */
const oneLine = (text: string): string =>
  text
    .replace(/ in "[^"]*" \(\d+:\d+\)/, '')
    .replace(/\s+/g, ' ')
    .trim();
