import { setFlagsFromString } from 'node:v8';

/**
 * Lets the heap of this process grow by 30 % between two collections of garbage. V8 lets it grow to a multiple: for a
 * document of 13 MB, this halves the memory of `generate` (to 460 MiB) for 8 % more CPU time.
 */
export const saveMemory = (): void => setFlagsFromString('--heap-growing-percent=30');
