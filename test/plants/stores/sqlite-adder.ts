import { closeSync, openSync, writeSync } from 'node:fs';
import { openSqlite } from '../../../src/stores/sqlite.ts';

/**
 * Adds plants from a process of its own. Arguments: the database, the first id, how many adders
 * work at once, how many plants at the most, and the file to which the id of each plant is written
 * when it is acknowledged.
 */
const [path = '', first = '', adders = '', most = '', acknowledged = ''] = process.argv.slice(2);

const store = await openSqlite(path, { maxWaiting: 1_000 });
const log = openSync(acknowledged, 'a');
const end = BigInt(first) + BigInt(most);
let next = BigInt(first);

async function adder(): Promise<void> {
  while (next < end) {
    const id = next++;
    await store.add({ id, name: `plant ${id}`, tag: id % 3n === 0n ? undefined : `tag ${id}` });
    writeSync(log, `${id}\n`);
  }
}

await Promise.all(Array.from({ length: Number(adders) }, adder));
await store.close();
closeSync(log);
