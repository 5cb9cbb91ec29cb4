import './node-version.js';
import { setImmediate as immediate } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { parseArgs } from 'node:util';
import type { Logger } from 'pino';
import { announce, isShownByParent, tellParent } from './announce.ts';
import {
  loadEnvFile,
  misspelledVariables,
  readConfig,
  readVariables,
  SERVER_VARIABLES,
  type ValuesOf,
  type Variables,
} from './configuration.ts';
import { createLog, endProcess, logStartError, versionText } from './log.ts';
import type { AnyBackend, OpenContext, ServiceDefinition } from './start-service.ts';
import { handleSignals, stopper } from './stop.ts';
import { banner, explain, help, startError, withToken } from './terminal.ts';

/**
 * Opens the backend.
 *
 * @param values the values of `variables`.
 * @throws {ConfigError} if a variable names something that cannot be opened.
 */
type OpenBackend<V extends Variables> = (
  values: ValuesOf<V>,
  context: OpenContext,
) => AnyBackend | Promise<AnyBackend>;

/** The parts of a project's service. */
export interface ServeOptions<V extends Variables>
  extends Pick<ServiceDefinition, 'codecs' | 'documents' | 'errorBody' | 'formats'> {
  /**
   * The handlers, and all other parts that may depend on the configuration or a database; or a
   * function that opens the database and returns them. `--check` does not call the function.
   */
  readonly open: AnyBackend | OpenBackend<V>;
  /**
   * The environment variables of the project, by name. `--help` lists them after those of the
   * server.
   */
  readonly variables?: V;
}

/** See `serve` in index.ts. */
export async function serve<V extends Variables>(options: ServeOptions<V>): Promise<void> {
  let log: Logger | undefined;
  try {
    const { values } = parseArgs({
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
        'allow-outside': { type: 'boolean' },
        check: { type: 'boolean' },
      },
    });
    if (values.help) process.stdout.write(help(options.variables ?? {}));
    else if (values.version) process.stdout.write(`${versionText}\n`);
    else {
      const setSignalHandlers = values.check ? undefined : handleSignals();
      const configuration = await configure(options.variables);
      log = configuration.log;
      const { open, variables: _variables, ...parts } = options;
      const definition = {
        ...parts,
        allowOutside: values['allow-outside'],
        open:
          typeof open === 'function'
            ? (context: OpenContext) => open(configuration.values, context)
            : open,
      };
      if (setSignalHandlers === undefined) await check(configuration, definition);
      else await run(configuration, definition, setSignalHandlers);
    }
  } catch (error) {
    const message = explain(error);
    if (isShownByParent) await tellParent({ failed: message });
    else if (isatty(1)) process.stderr.write(startError(message));
    else logStartError(message);
    await endProcess(1, log);
  }
}

async function configure<V extends Variables>(variables = {} as V) {
  loadEnvFile();
  const config = readConfig(process.env);
  const values = readVariables(variables, process.env);
  const { log, lostLines } = await createLog(config.LOG_LEVEL);
  const names = Object.keys({ ...SERVER_VARIABLES, ...variables });
  for (const [name, similar] of Object.entries(misspelledVariables(process.env, names))) {
    log.warn(`${name} is not a variable of this service: use ${similar}`);
  }
  return { config, values, log, lostLines };
}

type Configuration = Awaited<ReturnType<typeof configure>>;

async function check({ config, log }: Configuration, definition: ServiceDefinition): Promise<void> {
  const { checkService } = await import('./start-service.ts');
  await checkService(config, definition, log);
  await new Promise((resolve) => log.flush(resolve));
  const files = Object.values(definition.documents ?? [config.OPENAPI_FILE]).join(', ');
  process.stdout.write(`The configuration and ${files} are valid.\n`);
  if (typeof definition.open === 'function')
    process.stdout.write('The start also checks what `open` returns: handlers and verifiers.\n');
  await endProcess(0);
}

async function run(
  { config, log, lostLines }: Configuration,
  definition: ServiceDefinition,
  setSignalHandlers: ReturnType<typeof handleSignals>,
): Promise<void> {
  process.once('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception; the process ends');
    void endProcess(1, log);
  });
  const { startService } = await import('./start-service.ts');
  const service = await startService(config, definition, log, lostLines);

  // A signal that arrived during the start is handled before readiness is announced.
  await immediate();
  const { started, token } = service;
  if (!isShownByParent) {
    if (isatty(1)) process.stdout.write(banner(started, token));
    else {
      const example = token && started.example && withToken(started.example, token);
      log.info({ ...started, token, example, versions: versionText }, 'listening');
    }
  }
  log.flush();
  setSignalHandlers({
    stop: stopper(service, log, config.DRAIN_SECONDS),
    reload: service.reload,
  });
  await announce(started, (error) => log.warn({ err: error }, 'systemd cannot be notified'));
}
