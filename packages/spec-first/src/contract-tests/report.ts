import type { Operation } from 'openapi-document';
import type { Answer } from './client.ts';
import type { Outcome } from './test-operation.ts';

export const titleOf = ({ method, path, id }: Operation): string => `${method.toUpperCase()} ${path} (${id})`;

/** What a failed test says. Its stack would lead into these files, which say nothing about the service. */
export class ContractError extends Error {
  override readonly name = 'ContractError';

  constructor(operation: Operation, findings: Outcome['findings'], seed: number) {
    const runs = process.env.CONTRACT_RUNS === undefined ? '' : ` CONTRACT_RUNS=${process.env.CONTRACT_RUNS}`;
    const repeat = `  repeat:  CONTRACT_SEED=${seed}${runs} npm test`;
    super([`${titleOf(operation)} breaks the document`, ...findings.map(describe), repeat].join('\n\n'));
  }
}

const describe = ({ fault: { check, message, answer }, cause, curl }: Outcome['findings'][number]): string =>
  [
    `  broken:  ${check}`,
    `  why:     ${message}`,
    ...(cause === undefined ? [] : [`  log:     ${cause}`]),
    ...(answer === undefined ? [] : [`  answer:  ${shown(answer)}`]),
    `  request: ${curl}`,
  ].join('\n');

const shown = ({ status, body }: Answer): string => `${status} ${body.toString().slice(0, 300)}`.trimEnd();

/** Which operations never answered a valid request with a success, and why. */
export function summaryOf(outcomes: ReadonlyMap<Operation, Outcome>): string {
  const tested = [...outcomes];
  const missing = tested.filter(([, { notImplemented }]) => notImplemented);
  const failed = tested.filter(([, { answers, notImplemented }]) => !notImplemented && !answers.some(isSuccess));
  const lines = failed.map(([operation, { answers }]) => {
    const [most = []] = [...Map.groupBy(answers, ({ status }) => status).values()].sort((a, b) => b.length - a.length);
    const last = most.at(-1);
    const why =
      last === undefined ? 'no answer' : `${most.length} of ${answers.length} valid requests got ${shown(last)}`;
    return `  ${titleOf(operation)}: ${why}`;
  });
  const count = tested.length - missing.length - failed.length;
  return [
    `Contract tests: ${count} of ${tested.length} operations answered with a success.`,
    ...(missing.length > 0 ? [`${missing.length} skipped, not implemented (501):`] : []),
    ...missing.map(([operation]) => `  ${titleOf(operation)}`),
    ...(failed.length > 0 ? [`${failed.length} never answered with a success:`] : []),
    ...lines,
  ].join('\n');
}

const isSuccess = ({ status }: Answer): boolean => status < 400;
