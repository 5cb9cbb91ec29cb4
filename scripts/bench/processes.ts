import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const children = new Set<ChildProcess>();

/** Cores for `taskset`. */
export interface Cores {
  readonly servers: string;
  readonly load: string;
}

/** The last core for the load, the others for the servers; `undefined` without `taskset` or a second core. */
export function splitCores(): Cores | undefined {
  const last = availableParallelism() - 1;
  if (last < 1) return undefined;
  const cores = { servers: last === 1 ? '0' : `0-${last - 1}`, load: String(last) };
  const works = Object.values(cores).every((list) => spawnSync('taskset', ['-c', list, 'true']).status === 0);
  return works ? cores : undefined;
}

/** Starts a program on the given cores with the given environment and `PATH`. */
export function launch(
  file: string,
  cores: string | undefined,
  { env, stdio }: { env: Record<string, string>; stdio: ('ignore' | 'inherit' | 'ipc' | number)[] },
): ChildProcess {
  const pin = cores === undefined ? [] : ['taskset', '-c', cores];
  const node = [process.execPath, '--import', 'spec-first-server/compile-cache'];
  const [program = process.execPath, ...args] = [...pin, ...node, file];
  const child = spawn(program, args, { env: { PATH: process.env.PATH, ...env }, stdio });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** Ends a process: SIGTERM, and SIGKILL after five seconds. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await exited;
  clearTimeout(force);
}

/** Kills every process that `launch` started. Safe in an `exit` listener. */
export function killAll(): void {
  for (const child of children) child.kill('SIGKILL');
}

/** Resident memory in bytes; `undefined` on a system without /proc. */
export function residentMemory(pid: number | undefined): number | undefined {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}

/** CPU seconds of all threads of a process; `undefined` on a system without /proc. */
export function cpuSeconds(pid: number | undefined): number | undefined {
  try {
    // proc_pid_stat(5): fields 14 and 15 are utime and stime in ticks of 10 ms. Field 2 may contain spaces and brackets.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return undefined;
  }
}
