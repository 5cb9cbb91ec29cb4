import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const namesIn = (file: string, call: string): string[] => [
  ...new Set(
    Array.from(
      readFileSync(join(import.meta.dirname, file), 'utf8').matchAll(
        new RegExp(`\\b${call}\\('([^']+)'\\)`, 'g'),
      ),
      ([, name = '']) => name,
    ),
  ),
];

/** Returns the faults that a service can have: the names in its code. */
export const faultsIn = (file: string): string[] => namesIn(file, 'has');

/** Returns the habits of a correct service. */
export const habitsIn = (file: string): string[] => namesIn(file, 'does');
