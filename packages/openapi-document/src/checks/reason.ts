import type { ErrorObject } from 'ajv';
import { asArray } from '../document/document.ts';
import { stringifyJson } from '../json/exact.ts';

/** The maximum number of values of an enum in a message. */
const MAX_VALUES = 50;

/** Formats an error as a predicate of the value: `must be integer or null`. */
export function reasonOf({ keyword, message = '', params }: ErrorObject): string {
  if (keyword === 'false schema') return 'must not be present';
  if (keyword === 'not') return 'must not match the schema in "not"';
  if (keyword === 'type') return message.replaceAll(',', ' or ');
  const allowed = asArray(params.allowedValues);
  if (allowed.length === 0) return message;
  const texts = allowed
    .slice(0, MAX_VALUES)
    .map((value) => (typeof value === 'string' ? value : stringifyJson(value)));
  return `${message}: ${texts.join(', ')}${allowed.length > MAX_VALUES ? ', …' : ''}`;
}
