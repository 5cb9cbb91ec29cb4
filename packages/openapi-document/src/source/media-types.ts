export const FORM_DATA = 'multipart/form-data';
export const URLENCODED = 'application/x-www-form-urlencoded';

/** Returns a media type in lower case, without its parameters. */
export const essenceOf = (type: string): string =>
  (type.split(';', 1)[0] ?? '').trim().toLowerCase();

/** Returns true for a media range. An asterisk in a parameter does not make one. */
export const isRange = (type: string): boolean =>
  type.includes('*') && essenceOf(type).includes('*');

/** Returns a media type in a range, such as `image/png` for `image/*`. */
export const concreteType = (type: string): string =>
  isRange(type)
    ? type
        .replace('/*+', '/example+')
        .replace(/^(\*|application)\/\*/, 'application/json')
        .replace('audio/*', 'audio/mpeg')
        .replace('image/*', 'image/png')
        .replace('video/*', 'video/mp4')
        .replace('/*', '/plain')
    : type;

/** Returns true for media types of JSON, such as `application/problem+json`. */
export const isJsonType = (type: string): boolean =>
  /^(application\/(.+\+)?|text\/)json$/.test(essenceOf(type));

export const isJsonLines = (type: string): boolean =>
  /^application\/(jsonl|x-jsonlines|x-ndjson|ndjson)$/.test(essenceOf(type));

export const isJsonSequence = (type: string): boolean =>
  /^application\/([^/]+\+)?json-seq$/.test(essenceOf(type));

/** Returns true for JSON, forms and texts. */
export const isTextual = (type: string): boolean =>
  isJsonType(type) || /^text\//.test(essenceOf(type)) || isForm(type);

export const isForm = (type: string): boolean => [FORM_DATA, URLENCODED].includes(essenceOf(type));

/**
 * A parameter of a header, in quotation marks or not (RFC 9110 §5.6.6). Browsers write the filename
 * `a\` as `filename="a\"`. Even after a backslash, a quotation mark therefore ends the value if a
 * semicolon or the end of the header follows it.
 */
const PARAMETER = /;\s*(?:([^\s;="]+)=(?:"(.*?)"(?=\s*(?:;|$))|([^\s;"]*)))?\s*/gy;

/**
 * Parses a header with parameters, such as `Content-Type`. The value and the names are in lower
 * case.
 *
 * @returns undefined if a parameter is invalid or repeated.
 */
export function parseHeader(header: string) {
  const [value = ''] = header.split(';', 1);
  const text = header.slice(value.length);
  const parameters: Record<string, string | undefined> = Object.create(null);
  let length = 0;
  for (const [parameter, name = '', quoted, plain] of text.matchAll(PARAMETER)) {
    length += parameter.length;
    if (name === '') continue;
    const key = name.toLowerCase();
    if (key in parameters) return undefined;
    parameters[key] = quoted?.replaceAll('\\"', '"') ?? plain;
  }
  return length === text.length ? { value: value.trim().toLowerCase(), parameters } : undefined;
}

/** Returns the `charset` of a media type, in lower case. Empty if it is malformed or repeated. */
export function charsetOf(type: string): string | undefined {
  if (!type.includes(';')) return undefined;
  const header = parseHeader(type);
  if (header === undefined) return /;\s*charset=/i.test(type) ? '' : undefined;
  return header.parameters.charset?.toLowerCase();
}

/**
 * Finds the declared media type of a body. A media type with the same parameters takes precedence
 * over one without parameters. Both take precedence over ranges (OpenAPI 3.1 §4.8.13.1), which may
 * have a suffix, as in `application/*+json`.
 */
export function mediaTypeFor<Media extends { readonly type: string }>(
  media: readonly Media[],
  contentType: string,
): Media | undefined {
  const exact = media.find(({ type }) => type === contentType);
  if (exact !== undefined) return exact;
  const essence = essenceOf(contentType);
  const withSuffix = essence.replace(/\/.*\+/, '/*+');
  const ranges = [withSuffix, essence.replace(/\/.*/s, '/*'), '*/*'];
  const choices = [normalized(contentType), essence, ...ranges];
  const matches = choices.map((choice) => media.find(({ type }) => normalized(type) === choice));
  return matches.find((match) => match !== undefined);
}

/**
 * Returns a media type with its parameters in alphabetical order, but without its `charset`, in
 * lower case.
 */
function normalized(type: string): string {
  const { value, parameters } = parseHeader(type) ?? { value: essenceOf(type) };
  const others = Object.entries({ ...parameters, charset: undefined });
  const texts = others.map(([name, text]) => (text === undefined ? '' : `;${name}=${text}`));
  return value + texts.sort().join('').toLowerCase();
}
