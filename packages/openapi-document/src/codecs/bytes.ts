import type { BytesCoder } from './codec.ts';

/** Bytes of any other format. */
export const bytes: BytesCoder = { unit: 'bytes' };
