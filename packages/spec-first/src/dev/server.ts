import cluster, { type Worker } from 'node:cluster';
import type { Started, SupervisorMessage, WorkerMessage } from 'spec-first-server';

export type Server = Worker;

/** Flags of Node for a process that keeps compiled code and what was checked for the next one. */
export const CACHED = ['--import', 'spec-first-server/compile-cache'];

/** Makes `src/main.ts` the program of servers. Each server is a cluster worker: two of them can share the port. */
export function prepareServers(args: string[]): void {
  // Each server accepts its own connections. Connections that this process passed on would be lost with a server.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: 'src/main.ts', args, execArgv: CACHED });
}

export const startServer = (env: Readonly<Record<string, string>>): Server => cluster.fork(env);

/** Resolves once the server serves, or to why it cannot start, as far as it says so. */
export function startOf(server: Server): Promise<Started | string> {
  return new Promise((done) => {
    let failure = '';
    server.on('message', (message: WorkerMessage) => {
      if ('started' in message) done(message.started);
      if ('failed' in message) failure = message.failed;
    });
    server.once('exit', () => done(failure));
  });
}

/** Lets a server finish its requests and end. Idle connections are closed at once: they are the next server's. */
export function stopServer(server: Server): void {
  server.send('replace' satisfies SupervisorMessage, () => undefined);
}

export function killServer(server: Server): void {
  server.process.kill('SIGKILL');
}

/** All servers that run. */
export const servers = (): Server[] => Object.values(cluster.workers ?? {}).filter((server) => server !== undefined);
