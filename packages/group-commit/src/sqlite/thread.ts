import { parentPort as port, workerData } from 'node:worker_threads';
import { packError } from './errors.ts';
import { type BatchResult, openSession, type Request } from './session.ts';

const session = await openSession(workerData);

port?.on('message', (request: Request | 'close') => {
  if (request === 'close') {
    session.close();
    return port?.close();
  }
  const response = session.run(request);
  try {
    port?.postMessage(response);
  } catch {
    port?.postMessage(withoutUncloneable(response));
  }
});

/** Puts an error in place of each error, and of each result of a read, that cannot be cloned. */
function withoutUncloneable(response: BatchResult): BatchResult {
  if ('permanent' in response) return { ...response, cause: { message: response.message } };
  return response.map((outcome) => {
    try {
      return structuredClone(outcome);
    } catch (error) {
      return { error: packError(error) };
    }
  });
}
