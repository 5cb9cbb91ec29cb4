import { closeSync, openSync, writeSync } from 'node:fs';
import { openSqlite } from '../../../src/stores/sqlite.ts';

/**
 * Adds plants from a separate process. Arguments: the database, the first id, the number of
 * concurrent adders, the maximum number of plants, and a log file for the ids of acknowledged plants.
 */
const [path = '', first = '', adders = '', count = '', acknowledged = ''] = process.argv.slice(2);

// Longer than any test: several processes may wait for the lock of the file.
const options = { maxWaiting: 1_000, timeout: 600_000 };
const store = await openSqlite(path, options);
const log = openSync(acknowledged, 'a');
const end = BigInt(first) + BigInt(count);
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
