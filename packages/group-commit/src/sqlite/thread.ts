import { parentPort as port, workerData } from 'node:worker_threads';
import { failureOf } from './errors.ts';
import { type Call, openSession } from './session.ts';

const { file, module } = workerData;
const session = await openSession(file, module, (message) => port?.postMessage(message));

port?.on('message', (calls: readonly Call[] | 'close') => {
  if (calls === 'close') {
    session.close();
    return port?.close();
  }
  try {
    port?.postMessage(session.run(calls));
  } catch (error) {
    // A result cannot be cloned.
    port?.postMessage(failureOf(file, error));
  }
});
