import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { ENVIRONMENT } from 'test-support/environment';
import { eventually } from 'test-support/eventually';

export const PROJECT = join(import.meta.dirname, '../..');
export const MAIN = join(PROJECT, 'src/main.ts');
/** The start command, as the `node` of {@link launch}: `npm start` runs it. */
export const START = join(PROJECT, 'packages/spec-first-server/src/start.js');

export type Line = Readonly<Record<string, unknown>>;

/** A service in a child process. */
export interface Launched {
  readonly child: ChildProcess;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** Returns the log lines so far. @throws {SyntaxError} if a line is not JSON. */
  lines(): Line[];
  /**
   * Resolves to the first log line that matches.
   *
   * @throws {Error} with all output, if the service ends or 60 s pass before a line matches.
   */
  line(matches: (line: Line) => boolean): Promise<Line>;
  /** Resolves to the URL when the service listens. */
  readonly url: Promise<string>;
  /** Resolves to the exit code, or to the signal that ended the process. */
  readonly exit: Promise<number | string>;
}

interface Invocation {
  readonly args?: readonly string[];
  /** Flags of Node. */
  readonly flags?: readonly string[];
  readonly main?: string;
  readonly node?: string;
}

const running = new Set<ChildProcess>();

/**
 * Starts `src/main.ts` on a free port of 127.0.0.1. Of this process's environment, it inherits only
 * {@link ENVIRONMENT}.
 */
export function launch(
  env: Readonly<Record<string, string>> = {},
  {
    args = [],
    flags = [],
    main = MAIN,
    node = process.execPath,
    ...options
  }: Invocation & SpawnOptions = {},
): Launched {
  // The start command has this flag, too. It saves processor time.
  const pool = node === process.execPath ? ['--v8-pool-size=1'] : [];
  const child = spawn(node, [...pool, ...flags, main, ...args], {
    cwd: PROJECT,
    env: { ...ENVIRONMENT, PORT: '0', DATABASE_URL: 'sqlite::memory:', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  running.add(child);
  let stdout = '';
  let stderr = '';
  const watchers = new Set<() => void>();
  const wake = () => {
    for (const watcher of watchers) watcher();
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    wake();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exit = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return code ?? signal;
  });

  const lines = () =>
    stdout
      .slice(0, stdout.lastIndexOf('\n') + 1)
      .split('\n')
      .filter(Boolean)
      .map((text) => JSON.parse(text) as Line);
  const line = (matches: (line: Line) => boolean) =>
    new Promise<Line>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        watchers.delete(look);
      };
      const fail = (reason: unknown) => {
        end();
        reject(new Error(`${reason}:\n${stdout}\n${stderr}`));
      };
      const look = () => {
        try {
          const match = lines().find(matches);
          if (match === undefined) return;
          end();
          resolve(match);
        } catch (error) {
          fail(error);
        }
      };
      const timer = setTimeout(() => fail('no such line within 60 s'), 60_000);
      watchers.add(look);
      exit.then((code) => fail(`the service ended with ${code}`));
      look();
    });
  const url = line(({ msg }) => msg === 'listening').then((started) => String(started.url));
  url.catch(() => undefined);
  return {
    child,
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    lines,
    line,
    url,
    exit,
  };
}

/** Flags of Node with which SIGUSR2 throws an uncaught error. */
export const FAULTY = [
  '--import',
  'data:text/javascript,process.on("SIGUSR2", () => { throw Object.assign(new Error("a fault"), { code: "E_FAULT", detail: "a value that a driver quotes" }) })',
];

/** Flags of Node that write `loaded` to standard error when the metrics code is loaded. */
export const LOADING = [
  '--import',
  'data:text/javascript,import { registerHooks } from "node:module";registerHooks({ resolve(specifier, context, next) { if (specifier === "prom-client") console.error("loaded"); return next(specifier, context); } });',
];

/** Returns flags of Node that evaluate an expression during the start, before the store is open. */
export const whileStarting = (expression: string) => [
  '--import',
  `data:text/javascript,import { registerHooks } from "node:module";registerHooks({ resolve(specifier, context, next) { if (specifier === "./start-service.ts") ${expression}; return next(specifier, context); } });`,
];

export function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child = 0, parent]) => (parent === pid ? [child] : []));
}

/** Returns true if a process runs. False for a zombie. */
export function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return /^[^Z]/.test(stdout.trim());
}

/** Ends the processes that a failed test has left running. */
export async function endAll(): Promise<void> {
  const closed = [...running].map((child) => once(child, 'close'));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(closed);
}

export async function post(url: string, plant: object, token = 'token'): Promise<number> {
  const response = await fetch(`${url}/plants`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Connection: 'close',
    },
    body: JSON.stringify(plant),
  });
  await response.arrayBuffer();
  return response.status;
}

/**
 * Sends a plant without its last byte, and waits until the service has read the headers.
 *
 * @returns a function that sends the last byte. It resolves to the response when the connection is
 *   closed.
 */
export async function postAlmost(url: string, plant: object): Promise<() => Promise<string>> {
  const { hostname, port, host } = new URL(url);
  const body = JSON.stringify(plant);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.on('error', () => undefined);
  // once() would reject if the service resets the connection.
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const fields = [
    'Authorization: Bearer token',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  ];
  socket.write(
    `POST /plants HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${fields.join('\r\n')}\r\n\r\n`,
  );
  await eventually(() => received === 'HTTP/1.1 100 Continue\r\n\r\n');
  received = '';
  socket.write(body.slice(0, -1));
  return async () => {
    socket.write(body.slice(-1));
    await closed;
    return received;
  };
}
