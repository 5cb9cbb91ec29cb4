import { type Code, type ItemsCoder, UnreadableBody } from './codec.ts';
import { readJsonText, writeJsonText } from './json.ts';
import { textsBetween } from './texts.ts';

const RECORD_SEPARATOR = '\x1e';

/** JSON Text Sequences (RFC 7464). */
export const records: Code<ItemsCoder> = {
  async *read(chunks, _message, limit) {
    for await (const record of textsBetween(chunks, RECORD_SEPARATOR, limit)) {
      if (record.trim() === '') continue;
      // A truncated record may end with a truncated number.
      if (/[\w.]$/.test(record))
        throw new UnreadableBody('must end with a line feed (RFC 7464 §2.4)');
      yield readJsonText(record);
    }
  },
  write: (item) => `${RECORD_SEPARATOR}${writeJsonText(item)}\n`,
};
