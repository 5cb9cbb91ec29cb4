import type { ErrorObject } from 'ajv';
import { asArray } from '../document/document.ts';

/** Formats an error as a predicate of the value: `must be integer or null`. */
export function reasonOf({ keyword, message = '', params }: ErrorObject): string {
  switch (keyword) {
    case 'false schema':
      return 'must not be present';
    case 'not':
      return 'must not match the schema in "not"';
    case 'type':
      return message.replaceAll(',', ' or ');
    default:
      break;
  }
  if (params.allowedValues === undefined) return message;
  const allowed = asArray(params.allowedValues);
  const others = allowed.length > MAX_VALUES ? ', …' : '';
  return `${message}: ${allowed.slice(0, MAX_VALUES).join(', ')}${others}`;
}

/** The maximum number of values of an enum in a message. */
const MAX_VALUES = 50;
