import cluster from 'node:cluster';
import { setImmediate as turn } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { parseArgs } from 'node:util';
import type { AppOptions } from '../routing/prepare.ts';
import { randomToken } from '../security/tokens.ts';
import {
  ConfigError,
  hasCredentials,
  loadEnvFile,
  readConfig,
  readVariables,
  type ValuesOf,
  type Variables,
} from './configuration.ts';
import { createLog, endProcess, logStartError, versionText } from './log.ts';
import { type SupervisorMessage, tellSupervisor } from './messages.ts';
import type { Backend, OpenContext, Service } from './service.ts';
import { handleSignals, stopper } from './stop.ts';
import { endWithSupervisor, HEARTBEAT, superviseWorkers } from './supervisor.ts';
import { banner, explain, help, startError, withToken } from './terminal.ts';

/** What a project serves. */
export interface ServeOptions<V extends Variables> extends Pick<AppOptions, 'errorBody' | 'verifiers' | 'use'> {
  /**
   * Opens what answers the operations: a database, for example.
   *
   * @param values the values of `variables`.
   * @throws {ConfigError} if a variable names something that cannot be opened.
   */
  readonly open: (values: ValuesOf<V>, context: OpenContext) => Backend | Promise<Backend>;
  /** The project's own environment variables, by name. `--help` shows them beside the server's. */
  readonly variables?: V;
}

/**
 * Serves the document in this process, or in as many processes as `WORKERS` says, until a signal ends it. Reads flags
 * from the command line, and variables from the environment and the file `.env`. Never throws: an error at the start is
 * printed, and the process ends with 1.
 *
 * @example
 * await serve({ open: () => ({ handlers: { getBook: ({ path }) => ({ status: 200, body: find(path.id) }) } }) });
 */
export async function serve<V extends Variables = Record<never, never>>(options: ServeOptions<V>): Promise<void> {
  const args = process.argv.slice(2);
  try {
    if (Number.parseInt(process.versions.node, 10) < 24) {
      throw new ConfigError(`It needs Node 24 or newer, but runs on ${process.version}: use npm start`);
    }
    const { values } = parseArgs({
      args,
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
        stack: { type: 'boolean' },
        'allow-outside': { type: 'boolean' },
      },
    });
    if (values.help) process.stdout.write(help(options.variables ?? {}));
    else if (values.version) process.stdout.write(`${versionText}\n`);
    else await run(options, values['allow-outside']);
  } catch (error) {
    const message = explain(error, args.includes('--stack'));
    if (cluster.isWorker) await tellSupervisor({ failed: message });
    else if (isatty(1)) process.stderr.write(startError(message));
    else logStartError(message);
    await endProcess(1);
  }
}

async function run<V extends Variables>(options: ServeOptions<V>, allowOutside?: boolean): Promise<void> {
  const { open, variables, ...rest } = options;
  const ready = handleSignals();
  loadEnvFile();
  const read = readConfig(process.env);
  const values = readVariables(variables ?? ({} as V), process.env);
  const token = hasCredentials(read) ? undefined : randomToken();
  const config = token === undefined ? read : { ...read, ACCESS_TOKENS: [token] };
  const { log, writeLine } = await createLog(config.LOG_LEVEL);
  process.once('uncaughtException', (error) => {
    log.fatal({ err: error }, 'the service failed and ends');
    void endProcess(1);
  });
  const onTerminal = isatty(1);
  if (token !== undefined && !onTerminal && !log.isLevelEnabled('info')) {
    const why = 'the token that is made for this run would not be logged';
    throw new ConfigError(`ACCESS_TOKENS is not set, but with LOG_LEVEL=${config.LOG_LEVEL} it must be: ${why}`);
  }

  let service: Service;
  if (config.WORKERS > 1 && cluster.isPrimary) {
    service = await superviseWorkers(config, token === undefined ? {} : { ACCESS_TOKENS: token }, log, writeLine);
  } else {
    const { startService } = await import('./service.ts');
    const definition = { ...rest, open: (context: OpenContext) => open(values, context), allowOutside };
    service = await startService(config, definition, log);
  }
  const stop = stopper(service, log, config.DRAIN_SECONDS);
  if (cluster.isWorker) return obeySupervisor(service, stop);

  // A signal that came during the start is handled before it is told.
  await turn();
  const { started } = service;
  const example = token && started.example && withToken(started.example, token);
  if (onTerminal) process.stdout.write(banner(started, token));
  else log.info({ ...started, token, example, versions: versionText }, 'listening');
  log.flush();
  ready(service, stop);
}

/** Tells the supervisor that this worker serves, and does what it says. */
function obeySupervisor(service: Service, stop: (quick: boolean) => void): void {
  process.on('message', async (message: SupervisorMessage) => {
    if (message === 'stop' || message === 'replace') stop(message === 'replace');
    else if (message === 'reload') await service.reload();
  });
  setInterval(async () => tellSupervisor({ metrics: (await service.metrics?.()) ?? '' }), HEARTBEAT);
  endWithSupervisor();
  void tellSupervisor({ started: service.started });
}
