import { afterEach, expect, test } from '@jest/globals';
import { Account } from '../../src/core/account.ts';
import { Resources } from '../../src/http/resources.ts';

const MIB = 1024 ** 2;

const opened: Account[] = [];
afterEach(() => {
  for (const account of opened.splice(0)) account.settle();
});

/** Creates accounts of calls that share 64 MiB. */
function accounts() {
  const resources = new Resources();
  const open = (client = '192.0.2.1') => {
    const account = new Account(resources, client);
    opened.push(account);
    return account;
  };
  return { memory: resources.memory, open };
}

test('calls share 64 MiB, beyond which the answer is 503', () => {
  const { memory, open } = accounts();
  for (let count = 0; count < 9; count += 1) open(`192.0.2.${count}`).charge(6 * MIB);
  expect(memory.bytesLeft).toBe(10 * MIB);
  const last = open('192.0.2.9');
  last.charge(4 * MIB);
  expect(() => last.charge(MIB + 1)).toThrow(
    expect.objectContaining({ status: 503, headers: { 'Retry-After': 1 }, expected: true }),
  );
  expect(memory.bytesLeft).toBe(6 * MIB);
  last.charge(MIB);
  expect(memory.bytesLeft).toBe(5 * MIB);
});

test('one caller holds at most as much as is left for others', () => {
  const { memory, open } = accounts();
  const calls = Array.from({ length: 40 }, () => open());
  const accepted = calls.filter((call) => {
    try {
      call.charge(MIB);
      return true;
    } catch {
      return false;
    }
  });
  expect(accepted).toHaveLength(32);
  open('192.0.2.2').charge(16 * MIB);
  expect(() => accepted[0]?.charge(1)).toThrow(expect.objectContaining({ status: 503 }));
  for (const call of accepted) call.settle();
  expect(memory.bytesLeft).toBe(48 * MIB);
});

test('calls of unknown clients do not share the memory of one caller', () => {
  const resources = new Resources();
  const calls = Array.from({ length: 3 }, () => new Account(resources, undefined));
  opened.push(...calls);
  for (const call of calls) call.charge(16 * MIB);
  expect(resources.memory.bytesLeft).toBe(16 * MIB);
});

test('a call is charged at most 16 MiB, or larger bodies could never be sent', () => {
  const { memory, open } = accounts();
  const account = open();
  account.charge(10 * MIB);
  account.charge(90 * MIB);
  expect(memory.bytesLeft).toBe(48 * MIB);
  account.charge(-90 * MIB);
  expect(memory.bytesLeft).toBe(54 * MIB);
});

test('a settled call holds nothing, and what it holds is removed once', () => {
  const { memory, open } = accounts();
  const account = open();
  const removed: string[] = [];
  account.defer(() => removed.push('a folder'));
  account.defer(() => removed.push('another folder'));
  account.charge(MIB);
  account.settle();
  account.settle();
  expect(removed).toEqual(['a folder', 'another folder']);
  account.charge(MIB);
  account.charge(-MIB);
  expect(memory.bytesLeft).toBe(64 * MIB);
  account.defer(() => removed.push('a late folder'));
  expect(removed).toEqual(['a folder', 'another folder', 'a late folder']);
});
