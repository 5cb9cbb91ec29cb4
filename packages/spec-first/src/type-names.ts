import { freeName } from 'openapi-document';

/** Returns true if the name of a member needs no quotes. */
export const isIdentifier = (name: string): boolean =>
  /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name);

/**
 * Returns a function that turns a name into a TypeScript name. It changes names that TypeScript
 * does not allow, names that the generated file uses, and names that it has already returned.
 */
export function aliasMaker(): (name: string) => string {
  const taken = new Set(RESERVED_NAMES);
  return (name) => {
    const words = name.replaceAll(/[^\p{ID_Continue}]+(.?)/gu, (_, next: string) =>
      next.toUpperCase(),
    );
    const base = /^[\p{ID_Start}_]/u.test(words) ? words : `Schema${words}`;
    const alias = freeName(base, (text) => taken.has(text));
    taken.add(alias);
    return alias;
  };
}

/** Names that have another meaning in the generated file or in TypeScript. */
const RESERVED_NAMES = [
  'Handlers RequestTo ReplyTo Around AroundOf HandlersOf RequestOf ReplyOf Verifiers Int64 V M',
  'Sent Received DateLike MaybeReadonly Tagged Readonly',
  'File Blob Record Extract AsyncIterable Date Client ClientOptions Route Readable Promise',
  'components operations paths webhooks security defaults contract routes createClient clientOf',
  'any bigint boolean never null number object string symbol undefined unknown void type interface',
  'break case catch class const continue debugger default delete do else enum export extends false',
  'finally for function if import in instanceof new return super switch this throw true try typeof',
  'var while with implements let package private protected public static yield await async as',
  'infer intrinsic keyof readonly unique out',
].flatMap((names) => names.split(' '));
