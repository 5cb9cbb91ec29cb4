import cluster from 'node:cluster';
import { isatty } from 'node:tty';
import { parseArgs } from 'node:util';
import type { Logger } from 'pino';
import type { ErrorBody } from '../response/problem.ts';
import type { Verifiers } from '../security/schemes.ts';
import { randomToken } from '../security/tokens.ts';
import type { Backend, OpenContext } from './backend.ts';
import { type Config, ConfigError, readConfig } from './configuration.ts';
import { loadEnvFile } from './env-file.ts';
import { createLog, endProcess } from './log.ts';
import type { Service, Stub } from './service.ts';
import { banner, explain, help, startError, withToken } from './terminal.ts';
import { readVariables, type ValuesOf, type Variables } from './variables.ts';
import { obeySupervisor, reportFailure, superviseWorkers } from './workers.ts';

/** Beyond `DRAIN_SECONDS`, how long a stop may take before it is an exit without order. Milliseconds. */
const STOP_LIMIT = 20_000;

/** A project's own parts. */
export interface ServeOptions<V extends Variables> {
  /** Opens what answers the operations. @throws {ConfigError} if a variable names something that cannot be opened. */
  readonly open: (values: ValuesOf<V>, context: OpenContext) => Backend | Promise<Backend>;
  /** The form of every failure's body. By default problem details (RFC 9457). */
  readonly errorBody?: ErrorBody;
  /** How credentials are checked of the security schemes that tokens do not cover, by the scheme's name. */
  readonly verifiers?: Verifiers;
  /** The project's own environment variables, by name; `--help` shows them beside the server's. */
  readonly variables?: V;
}

/**
 * Serves the document in this process, or in as many processes as `WORKERS` says, until a signal ends it. Takes flags
 * from the command line and its configuration from the environment or `.env`. Never throws: an error at the start is
 * printed and the process ends with 1.
 */
export async function serve<V extends Variables = Record<never, never>>(options: ServeOptions<V>): Promise<void> {
  const args = process.argv.slice(2);
  const variables: Variables = options.variables ?? {};
  try {
    const { values } = parseArgs({
      args,
      options: { help: { type: 'boolean', short: 'h' }, stack: { type: 'boolean' } },
    });
    if (values.help) process.stdout.write(help(variables));
    else await run(options);
  } catch (error) {
    const message = explain(error, args.includes('--stack'));
    if (cluster.isWorker) await reportFailure(message);
    else process.stderr.write(startError(message));
    await endProcess(1);
  }
}

async function run<V extends Variables>({ open, errorBody, verifiers, variables }: ServeOptions<V>): Promise<void> {
  const onTerminal = isatty(1);
  let stop = (): void => process.exit(0);
  let reloadLater = false;
  let reload = (): void => {
    reloadLater = true;
  };
  const { worker } = cluster;
  if (worker !== undefined) {
    // Without the first process Node would end this one at once, and the log would lack its last lines.
    worker.once('disconnect', () => {
      worker.exitedAfterDisconnect = true;
      void endProcess(0);
    });
    // A terminal sends its signals to all processes of a command; the first one tells the others what to do.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  } else {
    process.on('SIGINT', () => stop()).on('SIGTERM', () => stop());
    // A terminal that is closed sends SIGHUP, too.
    process.on('SIGHUP', () => (onTerminal && !isatty(1) ? stop() : reload()));
  }

  loadEnvFile();
  const read = readConfig(process.env);
  const own = readVariables(variables ?? ({} as V), process.env);
  const stub: Stub = { open: (context) => open(own, context), errorBody, verifiers };
  const token = read.makeToken ? randomToken() : undefined;
  const config: Config = token === undefined ? read : { ...read, auth: { ...read.auth, accessTokens: [token] } };
  const log = await createLog(config.logLevel);
  process.once('uncaughtException', (error) => {
    log.fatal({ err: error }, 'the service failed and ends');
    void endProcess(1);
  });

  if (token !== undefined && !onTerminal && !log.isLevelEnabled('info')) {
    const why = 'the token that is made for this run would be shown to no one';
    throw new ConfigError(`ACCESS_TOKENS is not set, but with LOG_LEVEL=${config.logLevel} it must be: ${why}`);
  }

  const service =
    config.workers > 1 && cluster.isPrimary
      ? await superviseWorkers(config, token === undefined ? {} : { ACCESS_TOKENS: token }, log)
      : await (await import('./service.ts')).startService(config, stub, log);
  stop = stopper(service, log, config.drainSeconds);
  if (cluster.isWorker) return obeySupervisor(service, stop);

  const { started } = service;
  if (onTerminal) process.stdout.write(banner(started, token));
  else {
    const example = token && started.example && withToken(started.example, token);
    log.info({ ...started, token, example }, 'listening');
  }
  log.flush();
  reload = () => void service.reload();
  // The start has read the tokens, perhaps before they were changed.
  if (reloadLater) reload();
}

/** What stops the service at its first call and ends the process then, or at its second call. */
function stopper(service: Service, log: Logger, drainSeconds: number): () => void {
  const limit = drainSeconds * 1000 + STOP_LIMIT;
  let stopping = false;
  return () => {
    if (stopping) {
      if (cluster.isPrimary) log.warn('a second signal: what was still in flight is cut off');
      return void endProcess(1);
    }
    stopping = true;
    if (cluster.isPrimary) log.info({ drainSeconds }, 'stopping');
    setTimeout(() => {
      log.fatal(`the stop took longer than ${limit / 1000} s: what was still in flight is cut off`);
      void endProcess(1);
    }, limit);
    service.stop().then(
      () => {
        if (cluster.isPrimary) log.info('stopped');
        return endProcess(0);
      },
      (error: unknown) => {
        log.fatal({ err: error }, 'the service did not stop in order');
        return endProcess(1);
      },
    );
  };
}
