import { parentPort as port, workerData } from 'node:worker_threads';
import { troubleOf } from './errors.ts';
import { openSession, type Request } from './session.ts';

const { file, module } = workerData;
const answer = await openSession(file, module, (message) => port?.postMessage(message));

port?.on('message', (request: Request) => {
  try {
    port?.postMessage(answer(request));
  } catch (error) {
    // A result cannot be cloned.
    port?.postMessage(troubleOf(file, error));
  }
  if (request === 'close') port?.close();
});
