import { expect, test } from '@jest/globals';
import { Account, Resources } from '../../src/core/account.ts';

const MIB = 1024 ** 2;

/** Creates accounts of calls that share 64 MiB. */
function accounts() {
  const resources = new Resources();
  return { memory: resources.memory, open: () => new Account(resources, '192.0.2.1') };
}

test('calls share 64 MiB, beyond which the answer is 503', () => {
  const { memory, open } = accounts();
  for (let count = 0; count < 4; count += 1) open().charge(15 * MIB);
  expect(memory.bytesLeft).toBe(4 * MIB);
  const last = open();
  last.charge(3 * MIB);
  expect(() => last.charge(MIB + 1)).toThrow(
    expect.objectContaining({ status: 503, headers: { 'Retry-After': 1 }, expected: true }),
  );
  expect(memory.bytesLeft).toBe(MIB);
  last.charge(MIB);
  expect(memory.bytesLeft).toBe(0);
});

test('a call is charged at most 16 MiB, or larger bodies could never be sent', () => {
  const { memory, open } = accounts();
  const account = open();
  account.charge(10 * MIB);
  account.charge(90 * MIB);
  expect(memory.bytesLeft).toBe(48 * MIB);
  account.refund(90 * MIB);
  expect(memory.bytesLeft).toBe(54 * MIB);
});

test('a settled call holds nothing, and what it holds is removed once', () => {
  const { memory, open } = accounts();
  const account = open();
  const removed: string[] = [];
  account.defer(() => removed.push('a folder'));
  account.charge(MIB);
  account.settle();
  account.settle();
  expect(removed).toEqual(['a folder']);
  account.charge(MIB);
  account.refund(MIB);
  expect(memory.bytesLeft).toBe(64 * MIB);
  account.defer(() => removed.push('a late folder'));
  expect(removed).toEqual(['a folder', 'a late folder']);
});

test('the caller is the authenticated subject, or else the address of the client', () => {
  const account = accounts().open();
  expect(account.caller).toBe('192.0.2.1');
  account.subject = 'ann';
  expect(account.caller).toBe('ann');
});
