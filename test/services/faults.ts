import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the faults that a service can have: the names in its code. */
export const faultsIn = (file: string): string[] => [
  ...new Set(
    Array.from(
      readFileSync(join(import.meta.dirname, file), 'utf8').matchAll(/\bhas\('([^']+)'\)/g),
      ([, name = '']) => name,
    ),
  ),
];
