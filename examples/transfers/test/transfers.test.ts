import { deepEqual } from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { contractTests, testLog } from 'spec-first/contract-tests';
import { testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import type { operations } from '../generated/openapi.ts';
import { openAccounts } from '../src/handlers.ts';

const document = 'openapi.yaml';
const folder = mkdtempSync(join(tmpdir(), 'transfers-'));
after(() => rmSync(folder, { recursive: true }));
const log = testLog();
const backend = openAccounts(join(folder, 'accounts.db'));
const app = await createApp({ document, ...backend, log });
const api = await testClient<operations>(app, { document });

await contractTests({ document, app, log, seed, test });

test('a transfer is stored, and a failed one changes nothing', async () => {
  const balanceOf = async (name: string) => {
    const { status, body } = await api.getAccount({ path: { name } });
    return status === 200 ? body.balance : undefined;
  };
  const transfer = async (to: string) => {
    const { status } = await api.transfer({ body: { from: 'ann', to, amount: 4 } });
    return status;
  };
  await api.putAccount({ path: { name: 'ann' }, body: { balance: 10 } });
  await api.putAccount({ path: { name: 'bob' }, body: { balance: 0 } });
  deepEqual(await transfer('nobody'), 404);
  deepEqual(await balanceOf('ann'), 10);
  const statuses = await Promise.all(['bob', 'bob', 'bob'].map(transfer));
  deepEqual(statuses.sort(), [204, 204, 409]);
  deepEqual([await balanceOf('ann'), await balanceOf('bob')], [2, 8]);
});

/** The example of the document needs these accounts. */
async function seed() {
  await api.putAccount({ path: { name: 'ann' }, body: { balance: 1000 } });
  await api.putAccount({ path: { name: 'bob' }, body: { balance: 0 } });
  return {};
}
