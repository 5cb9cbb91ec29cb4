import { parentPort as port, workerData } from 'node:worker_threads';
import { packError } from './errors.ts';
import { type BatchResult, openSession, type Request } from './session.ts';

const session = await openSession(workerData);

port?.on('message', (request: Request | 'close') => {
  if (request === 'close') {
    session.close();
    return port?.close();
  }
  const answer = session.run(request);
  try {
    port?.postMessage(answer);
  } catch {
    port?.postMessage(withoutUncloneable(answer));
  }
});

/** Replaces results that cannot be cloned by errors. Their calls are committed nevertheless. */
function withoutUncloneable(answer: BatchResult): BatchResult {
  if ('permanent' in answer) return { ...answer, cause: { message: answer.message } };
  return answer.map((outcome) => {
    try {
      return structuredClone(outcome);
    } catch (error) {
      return { error: packError(error) };
    }
  });
}
