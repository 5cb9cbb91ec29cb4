/** The scheme of a URI, and a percent-encoded byte (RFC 3986 §2.1, §3.1). */
const SCHEME = String.raw`[A-Za-z][A-Za-z\d+.\-]*:`;
const ENCODED = String.raw`%[\dA-Fa-f]{2}`;

/** The unreserved characters and the sub-delimiters of a URI (RFC 3986 §2.2, §2.3). */
const PLAIN = String.raw`A-Za-z\d._~!$&'()*+,;=\-`;

const charsOf = (characters: string): string => `(?:[${PLAIN}${characters}]|${ENCODED})`;

const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
const HOST = String.raw`(?:\[[${PLAIN}:]+\]|${charsOf('')}*)`;
const AUTHORITY = String.raw`(?:${charsOf(':')}*@)?${HOST}(?::\d*)?`;
const SEGMENTS = `(?:/${charsOf(':@')}*)*`;
const ABSOLUTE_PATH = `/(?:${charsOf(':@')}+${SEGMENTS})?`;
const SUFFIX = String.raw`(?:\?${charsOf(':@/?')}*)?(?:#${charsOf(':@/?')}*)?`;

/** Returns the grammar after the scheme, where `first` are the characters of a first segment. */
const hierarchy = (first: string): string =>
  `(?://${AUTHORITY}${SEGMENTS}|${ABSOLUTE_PATH}|${charsOf(first)}+${SEGMENTS}|)${SUFFIX}`;

const URI = SCHEME + hierarchy(':@');

/** A label of a host name (RFC 1035 §2.3.1, RFC 1123 §2.1), without its maximum length. */
const LABEL = String.raw`[A-Za-z\d]+(?:-+[A-Za-z\d]+)*`;
const HOSTNAME = String.raw`${LABEL}(?:\.${LABEL})*`;

/** The parts of a date and time (RFC 3339 §5.6). Each date exists. */
const FOURTH = '(?:0[48]|[2468][048]|[13579][26])';
const LEAP_YEAR = String.raw`(?:\d\d${FOURTH}|(?:00|${FOURTH})00)`;
const DAY_OF_MONTH = [
  String.raw`(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])`,
  '(?:0[13-9]|1[0-2])-(?:29|30)',
  '(?:0[13578]|1[02])-31',
].join('|');
const DATE = String.raw`(?:\d{4}-(?:${DAY_OF_MONTH})|${LEAP_YEAR}-02-29)`;
const HOUR = String.raw`(?:[01]\d|2[0-3])`;
const CLOCK = String.raw`${HOUR}:[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?`;
const TIME = String.raw`${CLOCK}(?:[zZ]|[+-]${HOUR}:[0-5]\d)`;

/** The parts of an address (RFC 5321 §4.1.2). */
const ATOM = String.raw`[\w!#$%&'*+/=?^${'`'}{|}~\-]+`;
const QUOTED = String.raw`"(?:[ !#-\[\]-~]|\\[ -~])*"`;
const ADDRESS_LITERAL = String.raw`\[[\dA-Za-z:.]+\]`;

const JSON_POINTER = '(?:/(?:[^~/]|~[01])*)*';

/** Returns the grammar of a duration that begins with the first unit (RFC 3339, appendix A). */
const inOrder = (...units: string[]): string =>
  units.reduceRight((rest, unit) => String.raw`\d+${unit}${rest === '' ? '' : `(?:${rest})?`}`, '');

const TIME_PARTS = `T(?:${inOrder('H', 'M', 'S')}|${inOrder('M', 'S')}|${inOrder('S')})`;
const DATE_PARTS = `(?:${inOrder('Y', 'M', 'D')}|${inOrder('M', 'D')}|${inOrder('D')})`;

/** The parts of a URI template (RFC 6570 §2). */
const VARIABLE = String.raw`(?:\w|${ENCODED})(?:\.?(?:\w|${ENCODED}))*(?::[1-9]\d{0,3}|\*)?`;
const EXPRESSION = String.raw`\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\}`;
const LITERAL = String.raw`[^\x00- "%<>\\^${'`'}{|}\x7F-\x9F\uD800-\uDFFF]`;

/**
 * The patterns of formats. Those of `email` and of URIs allow any address in brackets, and those of
 * times any leap second.
 */
export const GRAMMARS = {
  /** Base64 (RFC 4648 §4), also in several lines. */
  byte: String.raw`(?:[A-Za-z\d+/]{4}(?:\r?\n)?)*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?(?:\r?\n)?`,
  date: DATE,
  /** The time may also begin after a space, as in RFC 3339 §5.6. */
  'date-time': `${DATE}[tT ]${TIME}`,
  duration: String.raw`P(?:\d+W|${TIME_PARTS}|${DATE_PARTS}(?:${TIME_PARTS})?)`,
  email: String.raw`(?:${ATOM}(?:\.${ATOM})*|${QUOTED})@(?:${HOSTNAME}|${ADDRESS_LITERAL})`,
  hostname: HOSTNAME,
  ipv4: String.raw`(?:${OCTET}\.){3}${OCTET}`,
  /** RFC 6901 §3 */
  'json-pointer': JSON_POINTER,
  'relative-json-pointer': String.raw`(?:0|[1-9]\d*)(?:#|${JSON_POINTER})`,
  time: TIME,
  uri: URI,
  'uri-reference': `(?:${URI}|${hierarchy('@')})`,
  'uri-template': `(?:${LITERAL}|${ENCODED}|${EXPRESSION})*`,
  /** Not a format of OpenAPI, but common. */
  url: URI,
  /** RFC 9562 §4, without the prefix of a URN. */
  uuid: String.raw`[\dA-Fa-f]{8}(?:-[\dA-Fa-f]{4}){3}-[\dA-Fa-f]{12}`,
} as const;
