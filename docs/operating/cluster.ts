// Serves in several processes that share the port: node cluster.ts
import cluster from 'node:cluster';

const WORKERS = 4;
const METRICS_PORT = 9464;

// Workers accept connections themselves. A primary that accepts them loses those that it has sent
// to a worker that ends: their clients would wait until they give up.
cluster.schedulingPolicy = cluster.SCHED_NONE;
cluster.setupPrimary({ exec: 'node_modules/.bin/spec-first-server' });
let isStopping = false;

function fork(metricsPort: number): void {
  if (isStopping) return;
  const worker = cluster.fork({ METRICS_PORT: String(metricsPort) });
  worker.once('exit', () => {
    if (!isStopping) setTimeout(fork, 1_000, metricsPort);
  });
}

for (let index = 0; index < WORKERS; index += 1) fork(METRICS_PORT + index);

function signalWorkers(signal: NodeJS.Signals): void {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill(signal);
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    isStopping = true;
    signalWorkers(signal);
  });
}
// A terminal that is closed sends SIGHUP, too: then all processes end.
if (!process.stdout.isTTY) process.on('SIGHUP', signalWorkers);
