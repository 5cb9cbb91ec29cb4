import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { getPriority, setPriority } from 'node:os';
import { extname, join } from 'node:path';
import { saveMemory } from '../memory.ts';

/** What a process in the background does. */
type Work = Readonly<Record<string, (...args: never[]) => unknown>>;

type Answer = { readonly value?: never } | { readonly error: string };

const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Ends all processes in the background. What they were called for stays unanswered. */
export async function endBackground(): Promise<void> {
  const running = [...children];
  children.clear();
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(running.map((child) => once(child, 'exit')));
}

/**
 * A module of this folder in a process of its own, which starts at the first call. Its priority is low, so that a server
 * starts before it goes on. It makes one call after the other.
 */
export function background<W extends Work>(name: string) {
  let child: ChildProcess | undefined;
  const waiting: PromiseWithResolvers<never>[] = [];

  function start(): ChildProcess {
    const started = fork(join(import.meta.dirname, name + extname(import.meta.filename)));
    children.add(started);
    if (started.pid !== undefined) setPriority(started.pid, Math.min(getPriority() + 5, 19));
    started.on('message', (answer: Answer) => {
      const call = waiting.shift();
      if ('error' in answer) call?.reject(new Error(answer.error));
      else call?.resolve(answer.value as never);
    });
    started.once('exit', (code, signal) => {
      child = undefined;
      if (!children.delete(started)) return;
      for (const { reject } of waiting.splice(0)) reject(new Error(`its process ended with ${signal ?? code}`));
    });
    return started;
  }

  return <K extends keyof W>(name: K, ...args: Parameters<W[K]>): Promise<Awaited<ReturnType<W[K]>>> => {
    const call = Promise.withResolvers<never>();
    waiting.push(call);
    child ??= start();
    // A call that cannot be sent is rejected when the process has ended.
    child.send([name, args], () => undefined);
    return call.promise;
  };
}

/** Makes the calls that come to this process, in turn, until the process that they come from has ended. */
export function answer(work: Work): void {
  saveMemory();
  let last = Promise.resolve();
  // Ctrl-C reaches all processes. The loop ends this one.
  process.on('SIGINT', () => undefined);
  process.on('disconnect', () => process.exit());
  process.on('message', ([name, args]: [string, never[]]) => {
    last = last
      .then(() => work[name]?.(...args))
      .then((value) => ({ value }))
      .catch((error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }))
      .then((result) => void process.send?.(result));
  });
}
