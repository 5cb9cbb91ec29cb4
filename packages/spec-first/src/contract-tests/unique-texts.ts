import { isObject, type Outline } from 'openapi-document';

/** Functions that make a string unique with a key, by format. The result has the same format. */
const MAKE_UNIQUE: Readonly<Record<string, (text: string, key: string) => string>> = {
  email: (text, key) => `${key}.${text}`,
  hostname: (text, key) => `${key}.${text}`,
  uri: (text, key) => `${text}${key}`,
  url: (text, key) => `${text}${key}`,
  uuid: (text, key) => `${text.slice(0, -key.length)}${key}`,
};

/** Numbers of letters and digits to replace in a string without a format, tried in this order. */
const REPLACED_COUNTS = [8, 6, 4];

const CHARACTERS = ['0123456789', 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

interface UniqueTextOptions {
  /** At most 12 hexadecimal digits, unique to the request. */
  readonly key: string;
  /** True to change strings without a format too, except those of an `enum` or a `const`. */
  readonly isAnyTextChanged: boolean;
  /** A change is kept only if this returns true. */
  isValid(changed: unknown): boolean;
}

/**
 * Makes strings in a value unique. Many services require unique addresses, codes or names, and
 * would reject all requests but the first with 409.
 */
export function withUniqueTexts(
  outline: Outline,
  value: unknown,
  options: UniqueTextOptions,
): unknown {
  const { key, isAnyTextChanged, isValid } = options;
  if (Array.isArray(value)) {
    return value.map((item, index) => {
      return withUniqueTexts(outline.item(index), item, {
        ...options,
        isValid: (changed) => isValid(value.with(index, changed)),
      });
    });
  }
  if (isObject(value)) {
    const members = Object.entries(value).map(([name, member]) => {
      const changed = withUniqueTexts(outline.member(name), member, {
        ...options,
        isValid: (changedMember) => isValid({ ...value, [name]: changedMember }),
      });
      return [name, changed];
    });
    return Object.fromEntries(members);
  }
  if (typeof value !== 'string') return value;
  const { formats, constants } = outline;
  const makeUnique = formats
    .map((format) => MAKE_UNIQUE[format])
    .find((candidate) => candidate !== undefined);
  if (makeUnique !== undefined) {
    const unique = makeUnique(value, key);
    return isValid(unique) ? unique : value;
  }
  const isFixed = formats.length > 0 || constants.length > 0;
  if (isFixed || !isAnyTextChanged) return value;
  const changes = REPLACED_COUNTS.map((count) => withOtherEnd(value, key, count));
  return changes.find((changed) => changed !== value && isValid(changed)) ?? value;
}

/**
 * Replaces the last `count` ASCII letters and digits with others of the same kind, so that most
 * patterns still match: with 4, `ORDER-1234` may become `ORDER-2468`. Does not change a string with
 * fewer letters and digits.
 */
const withOtherEnd = (text: string, key: string, count: number): string =>
  text.replace(new RegExp(`(?:[a-z0-9][^a-z0-9]*){${count}}$`, 'i'), (end) =>
    end.replace(/[a-z0-9]/gi, (character, position: number) => {
      const characters = CHARACTERS.find((candidate) => candidate.includes(character)) ?? '';
      const step = Number.parseInt(key.charAt(position % key.length), 16);
      return characters.charAt((characters.indexOf(character) + step) % characters.length);
    }),
  );
