import { coerce } from '../parameters/texts.ts';
import type { TextCoder } from './codec.ts';

/** A text, or a number or boolean if its schema has that type. */
export const text: TextCoder = {
  unit: 'value',
  isText: true,
  canBeEmpty: true,
  acceptsStreams: true,
  read: (body, { outline }) => (outline === undefined ? body : coerce([outline], body)),
  write(value) {
    if (['string', 'number', 'bigint', 'boolean'].includes(typeof value)) return String(value);
    throw new TypeError(`a text must not be ${typeof value}`);
  },
};
