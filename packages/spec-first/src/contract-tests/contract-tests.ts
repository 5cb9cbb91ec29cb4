import { randomInt } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { checkDocument, type Document, loadDocument, type Operation } from 'openapi-document';
import { validatorsFor } from './checks.ts';
import {
  type Client,
  connect,
  listen,
  PLACEHOLDER_ORIGIN,
  type ReceivedResponse,
} from './client.ts';
import { type Credentials, insufficientSecrets, type Secret, secretsFor } from './credentials.ts';
import type { TestLog } from './log.ts';
import { replyOracle } from './oracle.ts';
import { creatorOf, inOrder, isEnding } from './order.ts';
import { type FailedCheck, isMock, type Target } from './probe.ts';
import { trackResources } from './resources.ts';
import { readerOf } from './state.ts';
import {
  createFresh,
  type OperationTest,
  type Outcome,
  testAgain,
  testOperation,
  titleOf,
} from './test-operation.ts';

export type { Credentials } from './credentials.ts';
export { type TestLog, testLog } from './log.ts';

type CredentialSource = Credentials | string | (() => Credentials | string);

/** The options of `contractTests`. Either `app` or `url` is required. */
export interface ContractTestOptions {
  /** An OpenAPI document, or its file. */
  readonly document: Document | string;
  /** Reads files outside the document's folder that it references. */
  readonly allowOutside?: boolean;
  /** The service: an Express app, or a listener of `node:http`. */
  readonly app?: RequestListener | Promise<RequestListener>;
  /**
   * The URL of a running service, with the document's base path. A function is called when the
   * first test begins.
   */
  readonly url?: string | (() => string | Promise<string>);
  /**
   * A credential for each security scheme, by the scheme's name; or one token for all of them. A
   * function is called again for each test.
   */
  readonly credentials?: CredentialSource;
  /** Registers a test: `test` of `node:test` or of Jest. */
  readonly test: (name: string, body: () => Promise<void>, timeout: number) => unknown;
  /**
   * Scales the number of requests to each operation: about `runs / 2` random valid requests, at
   * most `runs` edge cases such as values at bounds, and at most `runs` invalid requests. By
   * default 50. CONTRACT_RUNS takes precedence.
   */
  readonly runs?: number;
  /**
   * The ids of operations that need not succeed, and that may respond with 400, 415 or 422 to
   * requests that the schemas allow.
   */
  readonly mayReject?: readonly string[];
  /**
   * The ids of operations that store values other than those in the request, such as trimmed
   * strings, or that delete later.
   */
  readonly mayChange?: readonly string[];
  /**
   * Adds the data that operations need. Called when the first test begins. Resolves to ids by names
   * of path parameters, such as `{ paymentId: '…' }`.
   */
  readonly seed?: () => Promise<Readonly<Record<string, string | number | bigint>> | undefined>;
  /**
   * Credentials without any scope, in the form of `credentials`. Operations that need a scope must
   * reject them.
   */
  readonly unscoped?: CredentialSource;
  /** Custom formats of the service, as in `serve`: `{ iban: (text) => isIban(text) }`. */
  readonly formats?: Readonly<Record<string, (text: string) => boolean>> | undefined;
  /** The log of the service. A failed test shows the logged cause of the response. */
  readonly log?: TestLog;
  /** Receives the summary, with the statuses of each operation. By default it is printed. */
  readonly report?: (summary: string) => void;
}

/**
 * Registers a test for each operation of a document. A test sends requests that are made from the
 * document's schemas and examples, and checks the responses against the document.
 *
 * @example
 * import test from 'node:test';
 * await contractTests({ document: 'openapi.yaml', app, credentials: { bearerAuth: 'token' }, test
 * });
 */
export async function contractTests(options: ContractTestOptions): Promise<void> {
  const { allowOutside, test, report: print = console.log } = options;
  const document =
    typeof options.document === 'string'
      ? await loadDocument(options.document, { allowOutside })
      : options.document;
  const { root } = document;
  const formats = Object.keys(options.formats ?? {});
  /** Operations that a server cannot serve: it answers 501. */
  const { broken } = checkDocument(document, { formats });
  const runs =
    variable('CONTRACT_RUNS', /^[1-9]\d{0,6}$/, 'an integer from 1 to 9999999') ??
    options.runs ??
    50;
  // In CI, each run sends the same requests, so only a change of the project can make a test fail.
  const defaultSeed = process.env.CI === undefined ? randomInt(2 ** 31) : 1;
  const randomSeed =
    variable('CONTRACT_SEED', /^-?\d{1,10}$/, 'an integer of at most 10 digits') ?? defaultSeed;
  // Long enough for a busy machine.
  const timeout = 60_000 + runs * 1_000;
  const reachable = document.operations.filter(({ template }) => template.isReachable);
  const operations = inOrder(root, reachable);
  const resources = trackResources(root, operations);
  const outcomes = new Map<Operation, Outcome>();
  const validatorFor = validatorsFor(root, options.formats);
  const oracle = replyOracle(root);

  let connecting: Promise<Client> | undefined;
  async function start(): Promise<Client> {
    const client = await clientFor(document, options);
    resources.seed((await options.seed?.()) ?? {});
    return client;
  }

  async function targetOf(operation: Operation): Promise<Target> {
    connecting ??= start();
    const client = await connecting;
    const secrets = secretsFor(document, operation, readCredentials(options.credentials));
    const tested = withoutClientParameters(operation, secrets);
    const validator = validatorFor(tested);
    return { root, operation: tested, validator, oracle, client, secrets };
  }

  async function contextOf(operation: Operation): Promise<OperationTest> {
    const { credentials, unscoped, mayReject = [], mayChange = [], log } = options;
    const target = await targetOf(operation);
    const reader = readerOf(operation, operations);
    return {
      ...target,
      resources,
      log,
      runs,
      seed: randomSeed,
      insufficient: insufficientSecrets(
        document,
        operation,
        target.secrets,
        readCredentials(credentials),
        unscoped && readCredentials(unscoped),
      ),
      mayReject: mayReject.includes(operation.id),
      mayChange: mayChange.includes(operation.id),
      reader: reader && (await targetOf(reader)),
    };
  }

  /** Throws an error that describes the failed checks, if there are any. */
  function throwFailedChecks(operation: Operation, failedChecks: readonly FailedCheck[]): void {
    if (failedChecks.length === 0) return;
    const sameRuns = process.env.CONTRACT_RUNS ? ` CONTRACT_RUNS=${runs}` : '';
    const title = `${titleOf(operation)} does not follow the document`;
    const repeat = `  repeat:   CONTRACT_SEED=${randomSeed}${sameRuns} npm test`;
    throw new Error([title, ...failedChecks.map(describe), repeat].join('\n\n'));
  }

  for (const operation of operations) {
    const run = async () => {
      if (broken.has(operation.id)) {
        outcomes.set(operation, NOT_SERVED);
        return;
      }
      const creator = isEnding(operation) ? creatorOf(operation, operations) : undefined;
      if (creator !== undefined) await createFresh(await targetOf(creator), resources, randomSeed);
      const outcome = await testOperation(await contextOf(operation));
      outcomes.set(operation, outcome);
      throwFailedChecks(operation, outcome.failedChecks);
    };
    test(`${titleOf(operation)} follows the document`, run, timeout);
  }

  const runAgain = async () => {
    for (const [operation, { answers, failedChecks, isMissing }] of outcomes) {
      const isDone = isMissing || failedChecks.length > 0 || answers.some(isMock);
      if (isDone || operation.method === 'delete') continue;
      throwFailedChecks(operation, await testAgain(await contextOf(operation)));
    }
  };
  test('operations follow the document after others have changed the data', runAgain, timeout);
  test(
    'summary of the contract tests',
    async () => print(summaryOf(outcomes, randomSeed)),
    timeout,
  );
}

const NOT_SERVED: Outcome = { failedChecks: [], answers: [], sentRequests: 0, isMissing: true };

const readCredentials = (source: CredentialSource = {}) =>
  typeof source === 'function' ? source() : source;

/** Headers that the client sets itself, since they describe how a message is sent. */
const FRAMING =
  /^(connection|content-(encoding|length)|expect|host|te|trailer|transfer-encoding|upgrade)$/i;

/** Returns an operation without the parameters that the client sets: credentials and framing. */
const withoutClientParameters = (operation: Operation, secrets: readonly Secret[]): Operation => ({
  ...operation,
  parameters: operation.parameters.filter(
    ({ in: where, name }) =>
      !(where === 'header' && FRAMING.test(name)) &&
      !secrets.some(
        (secret) => secret.in === where && secret.name.toLowerCase() === name.toLowerCase(),
      ),
  ),
});

async function clientFor(document: Document, { app, url }: ContractTestOptions): Promise<Client> {
  if (typeof url === 'string') return connect(url);
  // Messages do not show the real port, since the service stops with the tests.
  if (url !== undefined) return connect(await url(), PLACEHOLDER_ORIGIN);
  if (app === undefined) throw new TypeError('contractTests needs a service: pass `app` or `url`');
  return connect(`${await listen(await app)}${document.basePaths[0]}`, PLACEHOLDER_ORIGIN);
}

/** Returns the number in an environment variable. @throws {RangeError} if its form is wrong. */
function variable(name: string, form: RegExp, expected: string): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === '') return undefined;
  if (!form.test(text)) throw new RangeError(`${name} must be ${expected}, got "${text}"`);
  return Number(text);
}

const describe = ({ fault: { check, message }, answer, cause, curl }: FailedCheck): string =>
  [
    `  check:    ${check}`,
    `  reason:   ${message}`,
    ...(cause === undefined ? [] : [`  log:      ${cause}`]),
    ...(answer === undefined ? [] : [`  response: ${excerptOf(answer)}`]),
    `  request:  ${curl}`,
  ].join('\n');

const excerptOf = ({ status, body }: ReceivedResponse): string =>
  `${status} ${body.toString().slice(0, 300)}`.trimEnd();

/** Lists each operation with the numbers of its requests, successes and statuses. */
function summaryOf(outcomes: ReadonlyMap<Operation, Outcome>, randomSeed: number): string {
  const isSuccess = ({ status }: ReceivedResponse) => status < 400;
  const tested = [...outcomes].filter(([, { isMissing }]) => !isMissing);
  const missing = [...outcomes].filter(([, { isMissing }]) => isMissing);
  const successCount = tested.filter(([, { answers }]) => answers.some(isSuccess)).length;
  const lines = tested.map(([operation, { answers, sentRequests }]) => {
    const byStatus = Map.groupBy(answers, ({ status }) => status);
    const statuses = [...byStatus].map(([status, list]) => `${list.length} × ${status}`).join(', ');
    const successes = answers.filter(isSuccess).length;
    const successRate = `${successes} of ${answers.length} valid ones succeeded (${statuses})`;
    return `  ${titleOf(operation)}: ${sentRequests} requests, ${successRate}`;
  });
  const summary = `${successCount} of ${outcomes.size} operations succeeded at least once`;
  return [
    `Contract tests: ${summary}. Seed ${randomSeed}.`,
    ...lines,
    ...(missing.length > 0 ? [`${missing.length} skipped, not implemented (501):`] : []),
    ...missing.map(([operation]) => `  ${titleOf(operation)}`),
  ].join('\n');
}
