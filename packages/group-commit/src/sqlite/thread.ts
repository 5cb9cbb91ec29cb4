import { parentPort as port, workerData } from 'node:worker_threads';
import { failureOf } from './errors.ts';
import { openSession, type Request } from './session.ts';

const session = await openSession(workerData);

port?.on('message', (request: Request | 'close') => {
  if (request === 'close') {
    session.close();
    return port?.close();
  }
  try {
    port?.postMessage(session.run(request));
  } catch (error) {
    // A result could not be cloned.
    port?.postMessage(failureOf(workerData.file, error));
  }
});
