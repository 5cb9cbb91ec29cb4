import { randomInt } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { type Document, loadDocument, type Operation } from 'openapi-document';
import { validatorOf } from './checks.ts';
import { type Answer, type Client, connect, listen, SHOWN } from './client.ts';
import { type Credentials, type Secret, secretsFor } from './credentials.ts';
import { rememberIds } from './known.ts';
import type { TestLog } from './log.ts';
import { type Outcome, testOperation } from './test-operation.ts';

export type { Credentials } from './credentials.ts';
export { type TestLog, testLog } from './log.ts';

/** What is tested, and how. Give either `app` or `url`. */
export interface ContractTestOptions {
  /** An OpenAPI document, or its file. */
  readonly document: Document | string;
  /** What answers requests: an Express app, or a listener of `node:http`. */
  readonly app?: RequestListener | Promise<RequestListener>;
  /** Where the document's paths begin, for a service that runs. A function is called when the first test begins. */
  readonly url?: string | (() => string | Promise<string>);
  /** A credential for each security scheme, by the scheme's name; or one token for all of them. */
  readonly credentials?: Credentials | string;
  /** Registers a test: `test` of `node:test` or of Jest. */
  readonly test: (name: string, body: () => Promise<void>, timeout: number) => unknown;
  /** How many requests each operation gets. The variable CONTRACT_RUNS takes precedence. By default 50. */
  readonly runs?: number;
  /** The ids of operations whose handlers reject requests that the schemas allow, with 400 or 422. */
  readonly mayReject?: readonly string[];
  /** What the service logs: a failed test shows the cause of its answer. */
  readonly log?: TestLog;
  /** Gets the summary: which operations never answered with a success, and why. By default it is printed. */
  readonly report?: (summary: string) => void;
}

/**
 * Registers a test for each operation of a document. Each calls the service with requests that are made from the schemas and
 * examples of the document, and checks the answers against it.
 *
 * @example
 * import test from 'node:test';
 * await contractTests({ document: 'openapi.yaml', app, credentials: { bearerAuth: 'token' }, test });
 */
export async function contractTests(options: ContractTestOptions): Promise<void> {
  const { document: given, test, credentials = {}, mayReject = [], log, report = console.log } = options;
  const document = typeof given === 'string' ? await loadDocument(given) : given;
  const { root } = document;
  const runs = variable('CONTRACT_RUNS', /^[1-9]\d{0,6}$/, 'a number of requests') ?? options.runs ?? 50;
  const seed = variable('CONTRACT_SEED', /^-?\d{1,10}$/, 'an integer') ?? randomInt(2 ** 31);
  // With a reserve for a busy machine.
  const timeout = 60_000 + runs * 1_000;
  const operations = inOrder(document.operations.filter(({ template }) => template.isReachable));
  const known = rememberIds(root, operations);
  const outcomes = new Map<Operation, Outcome>();

  let client: Promise<Client> | undefined;
  const run = async (operation: Operation) => {
    client ??= clientFor(document, options);
    const secrets = secretsFor(document, operation, credentials);
    const tested = without(operation, secrets);
    const outcome = await testOperation({
      ...{ root, known, secrets, log, runs, seed },
      operation: tested,
      validator: validatorOf(root, tested),
      client: await client,
      mayReject: mayReject.includes(operation.id),
    });
    outcomes.set(operation, outcome);
    if (outcome.findings.length === 0) return;
    const repeat = `  repeat:  CONTRACT_SEED=${seed}${process.env.CONTRACT_RUNS ? ` CONTRACT_RUNS=${runs}` : ''} npm test`;
    const findings = outcome.findings.map(describe);
    throw new Error([`${titleOf(operation)} breaks the document`, ...findings, repeat].join('\n\n'));
  };
  for (const operation of operations) {
    test(`${titleOf(operation)} keeps to the document`, () => run(operation), timeout);
  }
  test('summary of the contract tests', async () => report(summaryOf(outcomes)), timeout);
}

/** Adds first what other things belong to, and deletes it last. */
function inOrder(operations: readonly Operation[]): Operation[] {
  const rank = ({ method }: Operation) => ({ post: 0, put: 1 })[String(method)] ?? 2;
  const deletes = operations.filter(({ method }) => method === 'delete').reverse();
  const others = operations.filter(({ method }) => method !== 'delete');
  const depth = ({ path }: Operation) => path.split('/').length;
  return [
    ...others.sort((a, b) => rank(a) - rank(b) || depth(a) - depth(b)),
    ...deletes.sort((a, b) => depth(b) - depth(a)),
  ];
}

/** Headers that say how a message is sent. The client sets them. */
const FRAMING = /^(connection|content-encoding|content-length|expect|host|te|trailer|transfer-encoding|upgrade)$/i;

/** An operation without the parameters that its credentials are, and those that the client sets. */
const without = (operation: Operation, secrets: readonly Secret[]): Operation => ({
  ...operation,
  parameters: operation.parameters.filter(
    ({ in: where, name }) =>
      !(where === 'header' && FRAMING.test(name)) &&
      !secrets.some((secret) => secret.in === where && secret.name.toLowerCase() === name.toLowerCase()),
  ),
});

async function clientFor(document: Document, { app, url }: ContractTestOptions): Promise<Client> {
  if (typeof url === 'string') return connect(url);
  // A service that the tests have started: when a message is read, another port serves.
  if (url !== undefined) return connect(await url(), SHOWN);
  if (app === undefined) throw new TypeError('contractTests needs an app or a url');
  return connect(`${await listen(await app)}${document.basePaths[0]}`, SHOWN);
}

/** The number in an environment variable. @throws {RangeError} if it holds something else. */
function variable(name: string, form: RegExp, expected: string): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === '') return undefined;
  if (!form.test(text)) throw new RangeError(`${name} is "${text}", but must be ${expected}`);
  return Number(text);
}

const titleOf = ({ method, path, id }: Operation): string => `${method.toUpperCase()} ${path} (${id})`;

const describe = ({ fault: { check, message }, answer, cause, curl }: Outcome['findings'][number]): string =>
  [
    `  broken:  ${check}`,
    `  why:     ${message}`,
    ...(cause === undefined ? [] : [`  log:     ${cause}`]),
    ...(answer === undefined ? [] : [`  answer:  ${shown(answer)}`]),
    `  request: ${curl}`,
  ].join('\n');

const shown = ({ status, body }: Answer): string => `${status} ${body.toString().slice(0, 300)}`.trimEnd();

/** Which operations never answered a valid request with a success, and why. */
function summaryOf(outcomes: ReadonlyMap<Operation, Outcome>): string {
  const missing: string[] = [];
  const failed: string[] = [];
  for (const [operation, { answers, notImplemented }] of outcomes) {
    if (notImplemented) missing.push(`  ${titleOf(operation)}`);
    else if (!answers.some(({ status }) => status < 400)) failed.push(`  ${titleOf(operation)}: ${whyOf(answers)}`);
  }
  const count = outcomes.size - missing.length - failed.length;
  return [
    `Contract tests: ${count} of ${outcomes.size} operations answered with a success.`,
    ...(missing.length > 0 ? [`${missing.length} skipped, not implemented (501):`, ...missing] : []),
    ...(failed.length > 0 ? [`${failed.length} never answered with a success:`, ...failed] : []),
  ].join('\n');
}

/** The most frequent one of the answers. */
function whyOf(answers: readonly Answer[]): string {
  const [most = []] = [...Map.groupBy(answers, ({ status }) => status).values()].sort((a, b) => b.length - a.length);
  const [first] = most;
  return first ? `${most.length} of ${answers.length} valid requests got ${shown(first)}` : 'no answer';
}
