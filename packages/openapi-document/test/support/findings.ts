import type { Report } from '../../src/checks/check-structure.ts';

/** Lists the findings of a check as `level pointer message`. */
export function findingsOf(check: (report: Report) => void): string[] {
  const findings: string[] = [];
  const collect = (level: string) => (pointer: string, message: string) => {
    findings.push(`${level} ${pointer} ${message}`);
  };
  check({ problem: collect('problem'), notice: collect('notice') });
  return findings;
}
