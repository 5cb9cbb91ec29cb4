import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';

/**
 * The time limit of the command that prints the password, in milliseconds. Shorter than
 * `connect_timeout` (3 s by default), so that the error names the command.
 */
const COMMAND_MS = 2_500;

/** The maximum number of characters that the command may print. */
const MAX_OUTPUT = 100_000;

/**
 * Returns a function that reads the password from a file or from the output of a command, or
 * `undefined` without both. It is called for each connection, since passwords may change. Calls
 * during a call share its result, so at most one command runs.
 */
export function passwordFrom(file: string, command: string): (() => Promise<string>) | undefined {
  if (!file && !command) return undefined;
  let reading: Promise<string> | undefined;

  async function read(): Promise<string> {
    try {
      return (file ? await readFile(file, 'utf8') : await outputOf(command)).trim();
    } catch (error) {
      const { code, message } = Object(error);
      throw new Error(`DATABASE_PASSWORD_${file ? 'FILE' : 'COMMAND'} failed (${code ?? message})`);
    }
  }

  return () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

/** Runs a command. If it fails or this process exits, ends all processes that it started. */
async function outputOf(command: string): Promise<string> {
  // The command leads a process group.
  const child = spawn(command, {
    shell: true,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });

  function end(): void {
    try {
      process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
    } catch {
      child.kill('SIGKILL');
    }
  }

  const expired = new Error(`no password after ${COMMAND_MS} ms`);
  const timer = setTimeout(() => child.stdout.destroy(expired), COMMAND_MS);
  process.once('exit', end);
  try {
    const [output, [code, signal]] = await Promise.all([read(child.stdout), once(child, 'exit')]);
    if (code !== 0) throw new Error(`exit status ${code ?? signal}`);
    return output;
  } catch (error) {
    end();
    throw error;
  } finally {
    clearTimeout(timer);
    process.off('exit', end);
  }
}

async function read(stream: NodeJS.ReadableStream): Promise<string> {
  let output = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    output += chunk;
    if (output.length > MAX_OUTPUT) throw new Error(`more than ${MAX_OUTPUT} characters`);
  }
  return output;
}
