import type { Code, ItemsCoder } from './codec.ts';
import { readJsonText, writeJsonText } from './json.ts';
import { textsBetween } from './texts.ts';

/** JSON Lines (https://jsonlines.org). */
export const lines: Code<ItemsCoder> = {
  async *read(chunks, _message, limit) {
    for await (const line of textsBetween(chunks, '\n', limit))
      if (line.trim() !== '') yield readJsonText(line);
  },
  write: (item) => `${writeJsonText(item)}\n`,
};
