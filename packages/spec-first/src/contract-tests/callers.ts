import { isDeepStrictEqual } from 'node:util';
import type { Resource } from './knowledge.ts';
import { collectionPathOf, keyOf } from './names.ts';
import { readView } from './views.ts';
import { isSuccess, type Run, type Target } from './world.ts';

/** The name of the checks of another caller. */
export const CALLERS = 'a resource belongs to its caller';

/**
 * Returns true if only its owner may use a resource: the service refuses another caller, or the
 * list of another caller has no resource of its owner. `undefined` if its owner cannot read it.
 */
export async function isPrivate(
  run: Run,
  { template, path }: Resource,
): Promise<boolean | undefined> {
  const own = await run.read(template, path);
  const other = await run.asOther(() => run.read(template, path));
  const isRead = own !== undefined && isSuccess(own);
  if (isRead && other !== undefined && [401, 403, 404].includes(other.response.status)) return true;
  const collection = run.world.knowledge.readerOf(collectionPathOf(template));
  const key = keyOf(template, path);
  if (collection === undefined || key === undefined) return isRead ? false : undefined;
  const ownList = await readView(run, collection, path);
  const otherList = await run.asOther(() => readView(run, collection, path));
  if (!ownList?.entries.has(key)) return isRead ? false : undefined;
  return (
    otherList?.isComplete === true &&
    otherList.entries.keys().every((each) => !ownList.entries.has(each))
  );
}

/**
 * Checks that another caller does not change a singleton of this one. A service whose callers share
 * any other resource may share singletons, too.
 */
export async function checkSingleton(run: Run, target: Target): Promise<void> {
  const { knowledge, random } = run.world;
  const { requests, operation, otherSecrets } = target;
  const { path } = operation;
  const isSingleton = operation.template.names.length === 0 && knowledge.readerOf(path);
  if (otherSecrets === undefined || operation.method === 'post' || !isSingleton) return;
  const known = knowledge.templates.flatMap((template) =>
    knowledge
      .pathsOf(template)
      .slice(0, 1)
      .map((resource) => ({ template, path: resource })),
  );
  const answers: unknown[] = [];
  for (const resource of known) answers.push(await isPrivate(run, resource));
  if (!answers.includes(true) || answers.includes(false)) return;
  const send = async () => {
    const values = await run.values(target, requests.full(random));
    return run.send(target, { values });
  };
  run.exchanges.length = 0;
  await send();
  const before = await run.read(path, {});
  const { status } = await run.asOther(send);
  const after = await run.read(path, {});
  if (status < 300 && !isDeepStrictEqual(before?.body, after?.body))
    run.fail(CALLERS, 'a request of another caller changes what this caller reads');
}
