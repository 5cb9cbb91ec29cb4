import { randomInt } from 'node:crypto';
import type { RequestListener } from 'node:http';
import {
  type Codec,
  Codecs,
  checkDocument,
  createSchemas,
  type Document,
  type DocumentSource,
  type Formats,
  loadDocument,
  mediaTypesOf,
  type Operation,
} from 'openapi-document';
import { readerOf } from './check-effect.ts';
import { validatorsFor } from './check-response.ts';
import { type FailedCheck, isMock, type Target } from './check-runner.ts';
import {
  type Client,
  createClient,
  listen,
  PLACEHOLDER_ORIGIN,
  type ReceivedResponse,
} from './client.ts';
import { type Credentials, insufficientSecrets, type Secret, secretsFor } from './credentials.ts';
import { creatorOf, isEnding, orderOperations } from './operation-order.ts';
import { trackResources } from './resources.ts';
import type { TestLog } from './test-log.ts';
import {
  createResources,
  type OperationTest,
  type Outcome,
  testAgain,
  testOperation,
  titleOf,
} from './test-operation.ts';

export type { Credentials } from './credentials.ts';
export { type TestLog, testLog } from './test-log.ts';

type CredentialSource = Credentials | string | (() => Credentials | string);

/** The options of `contractTests`. Either `app` or `url` is required. */
export interface ContractTestOptions {
  /** An OpenAPI document: the path of its file, its value, or as loaded. */
  readonly document: DocumentSource;
  /** True if the document may reference files outside its folder. */
  readonly allowOutside?: boolean;
  /** The service: an Express app, or a listener of `node:http`. */
  readonly app?: RequestListener | Promise<RequestListener>;
  /**
   * The URL of a running service, with the base path of the document. A function is called when
   * the first test begins.
   */
  readonly url?: string | (() => string | Promise<string>);
  /**
   * A credential for each security scheme, by the scheme's name; or one token for all schemes. A
   * function may be called several times in each test.
   */
  readonly credentials?: CredentialSource;
  /** Registers a test: `test` of `node:test` or of Jest. */
  readonly test: (name: string, body: () => Promise<void>, timeout: number) => unknown;
  /**
   * Sets the number of requests to each operation: about `runs / 2` random valid requests, at most
   * `runs` edge cases such as values at bounds, and at most `runs` invalid requests. By default 50.
   * The environment variable CONTRACT_RUNS takes precedence.
   */
  readonly runs?: number;
  /**
   * The ids of operations that may reject valid requests with 400, 415 or 422. They may also reject
   * all requests.
   */
  readonly mayReject?: readonly string[];
  /**
   * The ids of operations that store changed values, such as trimmed strings, or that delete a
   * resource after their response.
   */
  readonly mayChange?: readonly string[];
  /**
   * Adds the data that operations need. Called when the first test begins. Resolves to the ids of
   * this data, by name. `{ paymentId: '…' }` is the value of the path parameters `{paymentId}` and
   * `{payment_id}`, and of `{id}` in `/payments/{id}`.
   */
  readonly seed?: () => Promise<Readonly<Record<string, string | number | bigint>> | undefined>;
  /**
   * Credentials without any scope, in the same form as `credentials`. The service must reject them
   * for operations that require a scope.
   */
  readonly unscoped?: CredentialSource;
  /** Custom formats of the service, as in `serve`: `{ iban: (text) => isIban(text) }`. */
  readonly formats?: Formats | undefined;
  /** Codecs of the service, as in `serve`. */
  readonly codecs?: readonly Codec[] | undefined;
  /** The log of the service. A failed test shows the logged cause of the response. */
  readonly log?: TestLog;
  /**
   * Called with the summary, which has the statuses of each operation. By default, the summary is
   * printed.
   */
  readonly report?: (summary: string) => void;
}

/**
 * Registers a test for each operation of a document. A test generates requests from the schemas
 * and examples of the document, and checks the responses against the document.
 *
 * @example
 * import test from 'node:test';
 * const credentials = { bearerAuth: 'token' };
 * await contractTests({ document: 'openapi.yaml', app, credentials, test });
 */
export async function contractTests(options: ContractTestOptions): Promise<void> {
  const { allowOutside, test, report: print = console.log } = options;
  const document = await loadDocument(options.document, { allowOutside });
  const { root } = document;
  const { formats } = options;
  const codecs = new Codecs(options.codecs);
  await codecs.load(document.operations.flatMap(mediaTypesOf));
  /** The ids of operations that a server cannot serve. Their status is 501. */
  const { broken } = checkDocument(document, { formats, codecs });
  const runs =
    integerFromEnvironment('CONTRACT_RUNS', /^[1-9]\d{0,6}$/, 'an integer from 1 to 9999999') ??
    options.runs ??
    50;
  // In CI, each run sends the same requests, so that tests fail only after a change of the project.
  const defaultSeed = process.env.CI === undefined ? randomInt(2 ** 31) : 1;
  const randomSeed =
    integerFromEnvironment('CONTRACT_SEED', /^-?\d{1,10}$/, 'an integer of at most 10 digits') ??
    defaultSeed;
  // Long enough for a busy machine.
  const timeout = 60_000 + runs * 1_000;
  const reachable = document.operations.filter(({ template }) => template.isReachable);
  const operations = orderOperations(reachable);
  const resources = trackResources(root, operations);
  const outcomes = new Map<Operation, Outcome>();
  const schemas = createSchemas(root, { formats: options.formats });
  const validatorFor = validatorsFor(schemas, codecs);

  let startedClient: Promise<Client> | undefined;
  async function start(): Promise<Client> {
    const client = await clientFor(document, options);
    resources.addSeededIds((await options.seed?.()) ?? {});
    return client;
  }

  async function targetOf(operation: Operation): Promise<Target> {
    startedClient ??= start();
    const client = await startedClient;
    const secrets = secretsFor(document, operation, readCredentials(options.credentials));
    const testedOperation = withoutClientParameters(operation, secrets);
    const validator = validatorFor(testedOperation);
    return { schemas, operation: testedOperation, validator, client, secrets };
  }

  async function contextOf(operation: Operation): Promise<OperationTest> {
    const { credentials, unscoped, mayReject = [], mayChange = [], log } = options;
    const target = await targetOf(operation);
    const reader = readerOf(operation, operations);
    const basePath = new URL(target.client.base).pathname.replace(/\/$/, '');
    return {
      ...target,
      operations,
      // The URL of a running service may have another path than the servers of the document.
      basePaths: [basePath, ...document.basePaths],
      resources,
      log,
      runs,
      randomSeed,
      insufficientSecrets: insufficientSecrets(
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

  function throwFailedChecks(operation: Operation, failedChecks: readonly FailedCheck[]): void {
    if (failedChecks.length === 0) return;
    const sameRuns = process.env.CONTRACT_RUNS ? ` CONTRACT_RUNS=${runs}` : '';
    const title = `${titleOf(operation)} does not follow the document`;
    const repeat = `  repeat:   CONTRACT_SEED=${randomSeed}${sameRuns} npm test`;
    throw new Error([title, ...failedChecks.map(describeFailedCheck), repeat].join('\n\n'));
  }

  for (const operation of operations) {
    const testOperationOnce = async () => {
      if (broken.has(operation.id)) {
        outcomes.set(operation, SKIPPED);
        return;
      }
      const creator = isEnding(operation) ? creatorOf(operation, operations) : undefined;
      if (creator !== undefined)
        await createResources(await targetOf(creator), resources, randomSeed);
      const outcome = await testOperation(await contextOf(operation));
      outcomes.set(operation, outcome);
      throwFailedChecks(operation, outcome.failedChecks);
    };
    test(`${titleOf(operation)} follows the document`, testOperationOnce, timeout);
  }

  const testAllAgain = async () => {
    for (const [operation, { responses, failedChecks, isSkipped }] of outcomes) {
      const isFinal = isSkipped || failedChecks.length > 0 || responses.some(isMock);
      if (isFinal || operation.method === 'delete') continue;
      throwFailedChecks(operation, await testAgain(await contextOf(operation)));
    }
  };
  test('operations follow the document after others have changed the data', testAllAgain, timeout);
  test(
    'summary of the contract tests',
    async () => print(summaryOf(outcomes, randomSeed)),
    timeout,
  );
}

/** The outcome of an operation that a server cannot serve. */
const SKIPPED: Outcome = { failedChecks: [], responses: [], sentRequests: 0, isSkipped: true };

const readCredentials = (source: CredentialSource = {}) =>
  typeof source === 'function' ? source() : source;

/** Headers of the connection and of the encoding of the body. Only the client may set them. */
const CONNECTION_HEADERS =
  /^(connection|content-(encoding|length)|expect|host|te|trailer|transfer-encoding|upgrade)$/i;

/** Returns an operation without the parameters that the client sets, such as credentials. */
const withoutClientParameters = (operation: Operation, secrets: readonly Secret[]): Operation => ({
  ...operation,
  parameters: operation.parameters.filter(
    ({ in: where, name }) =>
      !(where === 'header' && CONNECTION_HEADERS.test(name)) &&
      !secrets.some(
        (secret) => secret.in === where && secret.name.toLowerCase() === name.toLowerCase(),
      ),
  ),
});

async function clientFor(document: Document, { app, url }: ContractTestOptions): Promise<Client> {
  if (typeof url === 'string') return createClient(url);
  // Messages show a placeholder for the origin, since the service stops with the tests.
  if (url !== undefined) return createClient(await url(), PLACEHOLDER_ORIGIN);
  if (app === undefined) throw new TypeError('contractTests needs a service: pass `app` or `url`');
  return createClient(`${await listen(await app)}${document.basePaths[0]}`, PLACEHOLDER_ORIGIN);
}

function integerFromEnvironment(name: string, form: RegExp, expected: string): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === '') return undefined;
  if (!form.test(text)) throw new RangeError(`${name} must be ${expected}, got "${text}"`);
  return Number(text);
}

const describeFailedCheck = ({
  error: { check, message },
  response,
  cause,
  curl,
}: FailedCheck): string =>
  [
    `  check:    ${check}`,
    `  reason:   ${message}`,
    ...(cause === undefined ? [] : [`  log:      ${cause}`]),
    ...(response === undefined ? [] : [`  response: ${excerptOf(response)}`]),
    `  request:  ${curl}`,
  ].join('\n');

const excerptOf = ({ status, body }: ReceivedResponse): string =>
  `${status} ${body.toString().slice(0, 300)}`.trimEnd();

/** The advice if most valid requests get 409. */
const UNIQUE_ADVICE =
  ': members that must be unique need a format such as uuid, or more characters';

function summaryOf(outcomes: ReadonlyMap<Operation, Outcome>, randomSeed: number): string {
  const isSuccess = ({ status }: ReceivedResponse) => status < 400;
  const tested = [...outcomes].filter(([, { isSkipped }]) => !isSkipped);
  const skipped = [...outcomes].filter(([, { isSkipped }]) => isSkipped);
  const successCount = tested.filter(([, { responses }]) => responses.some(isSuccess)).length;
  const lines = tested.map(([operation, { responses, sentRequests }]) => {
    const byStatus = Map.groupBy(responses, ({ status }) => status);
    const statuses = [...byStatus].map(([status, list]) => `${list.length} × ${status}`).join(', ');
    const successes = responses.filter(isSuccess).length;
    const successRate = `${successes} of ${responses.length} valid ones succeeded (${statuses})`;
    const conflicts = byStatus.get(409)?.length ?? 0;
    const advice =
      operation.requestBody && conflicts > responses.length * 0.75 ? UNIQUE_ADVICE : '';
    const mocked = responses.some(isMock) ? ', mocked' : '';
    return `  ${titleOf(operation)}: ${sentRequests} requests, ${successRate}${mocked}${advice}`;
  });
  const mockedCount = tested.filter(([, { responses }]) => responses.some(isMock)).length;
  const mocks = mockedCount > 0 ? ` Answered by mocks: ${mockedCount}.` : '';
  const summary = `${successCount} of ${outcomes.size} operations succeeded at least once.${mocks}`;
  return [
    `Contract tests: ${summary} CONTRACT_SEED=${randomSeed}`,
    ...lines,
    ...(skipped.length > 0 ? [`${skipped.length} skipped, not implemented (501):`] : []),
    ...skipped.map(([operation]) => `  ${titleOf(operation)}`),
  ].join('\n');
}
