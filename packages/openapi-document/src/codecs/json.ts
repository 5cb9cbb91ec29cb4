import { parseJson, stringifyJson } from '../json/exact.ts';
import { InvalidJson } from '../json/parser.ts';
import { type Code, type TextCoder, UnreadableBody } from './codec.ts';

/** JSON (RFC 8259) with exact 64-bit integers. */
export const json: Code<TextCoder> = {
  read: readJsonText,
  write: writeJsonText,
};

/** @throws {UnreadableBody} */
export function readJsonText(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw error instanceof InvalidJson ? new UnreadableBody(error.message) : error;
  }
}

/** @throws {TypeError} for a value that JSON cannot represent. */
export function writeJsonText(value: unknown): string {
  const text = stringifyJson(value);
  if (text === undefined) throw new TypeError(`a JSON body must not be ${typeof value}`);
  return text;
}
