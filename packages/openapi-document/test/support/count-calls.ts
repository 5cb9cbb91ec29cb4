/**
 * A thread that counts the calls of functions of the library. The profiler counts the calls of all
 * code of a thread, so a thread with nothing but the library is fast.
 */
import { Session } from 'node:inspector/promises';
import { parentPort } from 'node:worker_threads';
import { checkDocument, loadDocument, Schemas } from 'openapi-document';

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

async function useDocument(file: string): Promise<void> {
  const loaded = await loadDocument(file);
  const { problems, broken, notices } = checkDocument(loaded);
  loaded.describe([...problems, ...notices]);
  for (const findings of broken.values()) loaded.describe(findings);
  const schemas = new Schemas(loaded.root);
  for (const { requestBody } of loaded.operations)
    for (const { schema } of requestBody?.media ?? []) schemas.at(schema, 'request').unions;
}

/** The number of calls since the last call of this function. */
async function takeCalls(): Promise<number> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.includes('openapi-document/src'))
    .flatMap(({ functions }) => functions.flatMap(({ ranges: [range] }) => range?.count ?? 0))
    .reduce((sum, count) => sum + count, 0);
}

parentPort?.on('message', async (file: string) => {
  await takeCalls();
  await useDocument(file);
  parentPort?.postMessage(await takeCalls());
});
