import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { styleText } from 'node:util';
import { randomToken } from 'spec-first-server';
import {
  banner,
  hasCredentials,
  loadEnvFile,
  readConfig,
  type Started,
  type StartMessage,
  stopWithNpm,
} from 'spec-first-server/cli';
import { ALLOW_OUTSIDE, command, messageOf } from './command.ts';
import { COMPILES, checkTypes } from './dev/compiler.ts';
import { watchSaves } from './dev/watch.ts';
import { writeTypes } from './dev/write-types.ts';

const USAGE = `Usage: spec-first dev [--allow-outside]

Serves the document. After each save of the document or of a file in src, a new server takes over,
and the code is compiled. A save of the document also writes generated/openapi.ts. An operation with
an error in the document responds with 501. If the new version cannot be served at all, the last
good one is served.

  --allow-outside   read files outside the document's folder that it references
  --help            show this

The variables are those of npm start. Operations without a handler are mocked, unless
MISSING_OPERATIONS is set.
Exit codes: 0 ended by a signal, 1 an error, such as a wrong variable, 2 a wrong command line.`;

/** Flags of Node that cache compiled code. */
const CACHE_FLAGS = ['--import', 'spec-first-server/compile-cache'];

/**
 * Serves the document until a signal ends the process. Each save starts a new server. Servers are
 * cluster workers, which can share a port.
 */
export const run = command(USAGE, ALLOW_OUTSIDE, 0, async (values) => {
  const { 'allow-outside': allowOutside = false } = values;
  loadEnvFile();
  const config = readConfig({ ...process.env, NODE_ENV: undefined });
  const { OPENAPI_FILE: file } = config;
  const token = hasCredentials(config) ? undefined : randomToken();
  const missingOperations = process.env.MISSING_OPERATIONS || 'mock';
  const env = {
    ...(token !== undefined && { DEVELOPMENT_TOKEN: token }),
    MISSING_OPERATIONS: missingOperations,
    NODE_ENV: 'development',
    SPEC_FIRST_DEV: 'true',
    DRAIN_SECONDS: '0',
  };
  let serving: Worker | undefined;
  let newest: Worker | undefined;
  /** The newest server, until it listens. */
  let starting: Worker | undefined;
  let isStopping = false;
  let isAnnounced = false;
  let typeCheck = new AbortController();
  let pendingWrite = Promise.resolve();
  const lastTexts = new Map<string, string>();

  // With round-robin scheduling, this process would accept the connections of the servers, and
  // reset them when it ends.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({
    exec: 'src/main.ts',
    args: allowOutside ? ['--allow-outside'] : [],
    execArgv: CACHE_FLAGS,
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  // A second signal would abort requests.
  stopWithNpm(() => {
    if (!isStopping) void stop();
  });

  const watchDocument = watchSaves(handleSave);
  watchDocument([resolve(file)]);
  handleSave(true);
  return 0;

  function handleSave(isDocument: boolean): void {
    if (isStopping) return;
    void serveNewest();
    // One write at a time: earlier types must not replace later ones.
    if (isDocument) pendingWrite = pendingWrite.then(updateTypes);
    else void compile();
  }

  async function updateTypes(): Promise<void> {
    try {
      const { files, text } = await writeTypes(file, allowOutside);
      watchDocument([resolve(file), ...files]);
      sayOnce('document', text);
      void compile();
    } catch (error) {
      say(`The types are not written: ${messageOf(error)}`);
    }
  }

  async function compile(): Promise<void> {
    if (isStopping) return;
    typeCheck.abort();
    typeCheck = new AbortController();
    const result = await checkTypes(typeCheck.signal).catch(
      (error) => `The types are not checked: ${messageOf(error)}`,
    );
    if (result === undefined) return;
    sayOnce('types', result);
    // Repeats errors: "Served" alone would look as if the code compiled.
    if (result !== COMPILES) lastTexts.delete('types');
  }

  /** Starts a server for the saved files. The former one serves until the new one is ready. */
  async function serveNewest(): Promise<void> {
    const savedAt = performance.now();
    // An earlier start may hang. It has no clients yet.
    starting?.process.kill('SIGKILL');
    const server = cluster.fork(env);
    newest = server;
    starting = server;
    server.once('listening', () => {
      if (starting === server) starting = undefined;
    });
    const started = await waitForStart(server);
    if (newest !== server || isStopping) return retire(server);
    if (typeof started === 'string') return sayNotServed(started);
    server.once('exit', () => {
      if (serving !== server || isStopping) return;
      serving = undefined;
      sayNotServed('The server has ended.');
    });
    const former = serving;
    serving = server;
    if (former !== undefined) {
      retire(former);
      // Waits until the former server has finished its requests, for half a second at most.
      await Promise.race([once(former, 'exit'), pause(500)]);
    }
    if (!isAnnounced) say(banner({ ...started, missing: [] }, token));
    const took = `${Math.round(performance.now() - savedAt)} ms after the save.`;
    say(styleText('green', `Served. ${isAnnounced ? took : 'Each save reloads the service.'}`));
    isAnnounced = true;
    sayOnce('missing', describeMissing(started.missing, missingOperations === 'mock'));
  }

  function sayOnce(subject: string, text: string): void {
    if (text !== lastTexts.get(subject)) say(text);
    lastTexts.set(subject, text);
  }

  function sayNotServed(reason: string): void {
    say(reason);
    const state = serving ? 'the last good version is still served' : 'fix the error and save';
    say(styleText('red', `Not served: ${state}.`));
  }

  async function stop(): Promise<void> {
    isStopping = true;
    typeCheck.abort();
    const servers = Object.values(cluster.workers ?? {}).filter((server) => server !== undefined);
    for (const server of servers) {
      if (server === starting) server.process.kill('SIGKILL');
      else retire(server);
    }
    await Promise.all(servers.map((server) => once(server, 'exit')));
    process.exit();
  }
});

/** Resolves to the message of a server that has started, or to the reason if it cannot start. */
function waitForStart(server: Worker): Promise<Started | string> {
  return new Promise((done) => {
    let failure = '';
    server.on('message', (message: StartMessage) => {
      if (message === 'ready') return;
      if ('started' in message) done(message.started);
      else failure = message.failed;
    });
    server.once('exit', () => done(failure));
  });
}

/** Ends a server after its current requests. */
function retire(server: Worker): void {
  server.process.kill('SIGTERM');
}

export function describeMissing(missing: readonly string[], isMocked: boolean): string {
  if (missing.length === 0) return '';
  const first = missing.slice(0, 10);
  const rest = missing.length - first.length;
  const names = first.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  return `Operations without a handler (${isMocked ? 'mocked' : 'responding with 501'}): ${names}
To write stubs: npm run stub -- ${rest > 0 ? '--all' : missing.join(' ')}`;
}

function say(text: string): void {
  if (text !== '') process.stdout.write(`${text}\n`);
}
