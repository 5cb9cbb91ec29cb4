import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { randomToken } from 'spec-first-server';
import type { StartMessage } from 'spec-first-server/cli';
import { documentFile } from './command.ts';
import { type TestLog, testLog } from './contract-tests/test-log.ts';

/** Variables that the service inherits. None of them names a database or a credential. */
const INHERITED = new Set([
  ...['PATH', 'HOME', 'USERPROFILE', 'SYSTEMROOT', 'TMPDIR', 'TEMP', 'TMP', 'TZ', 'LANG'],
  ...['NODE_EXTRA_CA_CERTS', 'NODE_V8_COVERAGE', 'NODE_COMPILE_CACHE'],
]);

/** The time limit for the start. A busy machine may need most of it. */
const MAX_START_SECONDS = 60;

/** The options of `testService`. */
export interface TestServiceOptions {
  /** Environment variables of the service, such as `DATABASE_URL` of a database for tests. */
  readonly variables?: Readonly<Record<string, string>>;
  /** True to read files outside the document's folder that it references. */
  readonly allowOutside?: boolean;
  /** The program to start. By default `src/main.ts`. */
  readonly program?: string;
}

/** A service of the project in a process of its own. */
export interface TestService {
  /** The path of the document that it serves. */
  readonly document: string;
  readonly allowOutside: boolean;
  /** Keeps the service's log, so that a failed contract test shows the cause. */
  readonly log: TestLog;
  /** Starts the service. @throws {Error} if it does not start. */
  readonly start: () => Promise<void>;
  /** Stops the service and deletes its temporary folder. */
  readonly stop: () => Promise<void>;
  /** Returns the URL that the document's paths are relative to. */
  readonly url: () => string;
  /** A token for all security schemes and scopes. */
  readonly credentials: string;
  /** A token for all security schemes, without any scope. */
  readonly unscoped: string;
}

/**
 * Makes a service for tests. It cannot reach the data of a developer: it reads no `.env`, inherits
 * no variable that names a database, and runs in an empty temporary folder, so relative paths lead
 * to this folder. Operations without a handler are mocked.
 *
 * @example
 * const service = testService();
 * before(service.start);
 * after(service.stop);
 * await contractTests({ ...service, test });
 */
export function testService({
  variables = {},
  allowOutside = false,
  program = 'src/main.ts',
}: TestServiceOptions = {}): TestService {
  const document = resolve(documentFile());
  const path = resolve(program);
  const log = testLog();
  let folder = '';
  let child: ChildProcess | undefined;
  let address: string | undefined;
  const [credentials, unscoped] = [randomToken(), randomToken()];
  const { ACCESS_TOKENS = '' } = variables;

  return {
    document,
    allowOutside,
    log,
    credentials,
    unscoped,

    url() {
      if (address === undefined) throw new Error('The service is not running: call start() first');
      return address;
    },

    async start() {
      folder = mkdtempSync(join(tmpdir(), 'test-service-'));
      const inherited = Object.entries(process.env).filter(([name]) =>
        INHERITED.has(name.toUpperCase()),
      );
      const env = {
        ...Object.fromEntries(inherited),
        PORT: '0',
        OPENAPI_FILE: document,
        MISSING_OPERATIONS: 'mock',
        DEVELOPMENT_TOKEN: credentials,
        ...variables,
        ACCESS_TOKENS: `${ACCESS_TOKENS},unscoped:${unscoped} scheme=*`,
      };
      const args = allowOutside ? [path, '--allow-outside'] : [path];
      const service = spawn(process.execPath, args, {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      });
      child = service;
      process.once('exit', () => service.kill('SIGKILL'));
      if (service.stdout !== null) createInterface(service.stdout).on('line', log.line);
      address = await addressOf(service, program);
    },

    async stop() {
      if (child?.exitCode === null && child.signalCode === null && child.kill())
        await once(child, 'exit');
      if (folder !== '') rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves to the URL of a service that has started. @throws {Error} if it does not start. */
function addressOf(service: ChildProcess, program: string): Promise<string> {
  return new Promise((done, fail) => {
    const end = (reason: string) => {
      clearTimeout(timer);
      fail(new Error(`${program} does not start: ${reason}`));
    };
    const timer = setTimeout(() => {
      service.kill('SIGKILL');
      end(`it is not ready after ${MAX_START_SECONDS} seconds`);
    }, MAX_START_SECONDS * 1_000);
    service.once('exit', (code, signal) => {
      end(`it has ended with ${code === null ? `the signal ${signal}` : `exit code ${code}`}`);
    });
    service.on('message', (message: StartMessage) => {
      if (message === 'ready' || 'failed' in message) return;
      clearTimeout(timer);
      done(message.started.url);
    });
  });
}
