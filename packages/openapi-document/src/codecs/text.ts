import { coerce } from '../parameters/texts.ts';
import type { Code, TextCoder } from './codec.ts';

/** A text, or a number or boolean if its schema has that type. */
export const text: Code<TextCoder> = {
  read: (body, { outline }) => (outline === undefined ? body : coerce(outline, body)),
  write(value) {
    if (['string', 'number', 'bigint', 'boolean'].includes(typeof value)) return String(value);
    throw new TypeError(`a text must not be ${typeof value}`);
  },
};
