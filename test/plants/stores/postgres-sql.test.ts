import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { plantKey } from '../../../src/stores/postgres-sql.ts';

// Databases hold these keys. With other keys, a retry would store a plant a second time.
test.each([
  [
    { id: 1n, name: 'Monstera', tag: 'tropical' },
    '1:8:Monstera:tropical',
    '52798b1bcd51da9b5515577884e2199807c94a2af5d09961a157d43f7954fd23',
  ],
  [
    { id: -(2n ** 63n), name: 'é!' },
    '-9223372036854775808:3:é!',
    '72179c58b4dc9eb3c4daa6ca88fa83f43185a622a27eb9cac2a45f157fd9c476',
  ],
  [
    { id: 0n, name: '', tag: '' },
    '0:0::',
    '61c7546833af0d430c4f43067f2ea18205a985edf54059872d927fe447a9e43c',
  ],
])('the key of %o is the SHA-256 of %s', (plant, text, digest) => {
  expect(plantKey(plant).toString('hex')).toBe(digest);
  expect(createHash('sha256').update(text).digest('hex')).toBe(digest);
});
