import { type Chunks, itemTooLarge, UnreadableBody } from './codec.ts';

/** Splits UTF-8 at a separator. @throws {UnreadableBody} */
export async function* textsBetween(
  chunks: Chunks,
  separator: string,
  limit: number,
): AsyncGenerator<string> {
  let rest = '';
  for await (const text of utf8Texts(chunks)) {
    const [first = '', ...others] = text.split(separator);
    rest += first;
    for (const next of others) {
      if (rest.length > limit) throw itemTooLarge(limit);
      yield rest;
      rest = next;
    }
    if (rest.length > limit) throw itemTooLarge(limit);
  }
  yield rest;
}

/** Decodes chunks, which may end inside a character. @throws {UnreadableBody} */
export async function* utf8Texts(chunks: Chunks): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk?: Uint8Array) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new UnreadableBody('must be UTF-8');
    }
  };
  for await (const chunk of chunks) yield decode(chunk);
  yield decode();
}
