import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ENVIRONMENT } from './environment.ts';

const original = join(import.meta.dirname, '../../..');

/** Copies the project to a new folder, like a team that starts from it. */
export function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'project-'));
  const list = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: original },
  );
  for (const file of String(list).split('\0')) {
    if (file === '' || file === 'node_modules' || !existsSync(join(original, file))) continue;
    cpSync(join(original, file), join(folder, file));
  }
  symlinkSync(join(original, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** The file of the command line tools, an argument of Node. */
export const SPEC_FIRST = join(original, 'packages/spec-first/src/main.ts');

/**
 * Makes a project of these files in a new folder, with the compiler options and the packages of
 * this repository.
 */
export function makeProject(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'project-'));
  const tsconfig = {
    extends: join(original, 'tsconfig.json'),
    compilerOptions: { typeRoots: [join(original, 'node_modules/@types')] },
    include: ['src'],
  };
  const contents = {
    'package.json': '{ "type": "module" }',
    'tsconfig.json': JSON.stringify(tsconfig),
    ...files,
  };
  for (const [name, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  symlinkSync(join(original, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/**
 * Compiles a project. Returns the messages of the compiler. Uses one thread, which takes two
 * thirds of the CPU time of several threads.
 */
export function compile(folder: string, ...args: readonly string[]): string {
  const compiler = join(original, 'node_modules/typescript/bin/tsc');
  const options = ['--pretty', 'false', '--singleThreaded', ...args];
  const result = spawnSync(process.execPath, [compiler, ...options], {
    cwd: folder,
    encoding: 'utf8',
  });
  const { status, stdout, stderr } = result;
  // Without this check, tests that expect no errors would pass if the compiler crashes.
  if (status !== 0 && stdout === '') throw new Error(`the compiler has failed: ${stderr}`);
  return stdout;
}

const environment = (env: Readonly<Record<string, string>>) => ({
  ...ENVIRONMENT,
  HOME: process.env.HOME,
  NO_COLOR: '1',
  PORT: '0',
  DATABASE_URL: 'sqlite::memory:',
  ...env,
});

export async function run(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const running = start(folder, args, env);
  const code = await running.exit;
  return { code, output: running.output() };
}

/** A running program of the project, the leader of a process group. */
export interface Running {
  readonly child: ChildProcess;
  /** Its output since the last call of `forget`. */
  output(): string;
  forget(): void;
  /**
   * Waits until the output matches. Resolves to the first match.
   *
   * @throws {Error} with the output, if the program ends or 60 s pass.
   */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves to its exit code, or the signal that ended it. */
  readonly exit: Promise<number | string>;
}

/** Starts a program of the project: `args` are those of Node. */
export function start(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Running {
  // One thread of V8 saves processor time.
  const child = spawn(process.execPath, ['--v8-pool-size=1', ...args], {
    cwd: folder,
    env: environment(env),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const read = (chunk: string) => {
    output += chunk;
  };
  child.stdout.setEncoding('utf8').on('data', read);
  child.stderr.setEncoding('utf8').on('data', read);
  const exit = once(child, 'close').then(([code, signal]) => code ?? signal);
  return {
    child,
    exit,
    output: () => output,
    forget() {
      output = '';
    },
    async waitForOutput(pattern) {
      let isOver = false;
      exit.then(() => {
        isOver = true;
      });
      for (let waited = 0; waited < 60_000; waited += 10) {
        const match = pattern.exec(output);
        if (match !== null) return match;
        if (isOver) break;
        await pause(10);
      }
      throw new Error(`no output matches ${pattern}:\n${output}`);
    },
  };
}

export function groupRuns({ child }: Running): boolean {
  try {
    process.kill(-(child.pid ?? 0), 0);
    return true;
  } catch {
    return false;
  }
}

export function end(running: Running | undefined): void {
  if (running !== undefined && groupRuns(running))
    process.kill(-(running.child.pid ?? 0), 'SIGKILL');
}

export interface HttpResponse {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends a GET request on a new connection. */
export function get(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    request(url, { agent: false, headers }, async (response) => {
      let text = '';
      try {
        for await (const chunk of response) text += chunk;
      } catch (error) {
        reject(error);
      }
      resolve({ status: response.statusCode, headers: response.headers, text });
    })
      .on('error', reject)
      .end();
  });
}

/** Sends GET requests to `url` until it is stopped, each on a new connection. */
export function poll(url: string) {
  const failures: string[] = [];
  const answers = new Map<string, number>();
  let polling = true;
  const over = (async () => {
    while (polling) {
      try {
        const { status, text } = await get(url);
        answers.set(`${status} ${text}`, (answers.get(`${status} ${text}`) ?? 0) + 1);
      } catch (error) {
        failures.push(String(error));
      }
      await pause(100);
    }
  })();
  return {
    /** The errors of connections. */
    failures,
    /** The number of responses, by their status and text. */
    answers,
    async stop() {
      polling = false;
      await over;
    },
  };
}
