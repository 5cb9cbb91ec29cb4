import type { FormatName } from 'ajv-formats';

/** Formats that ajv-formats checks. */
const CHECKED: readonly FormatName[] = [
  ...([
    'date',
    'time',
    'date-time',
    'iso-time',
    'iso-date-time',
    'duration',
    'uri',
    'uri-reference',
    'uri-template',
  ] as const),
  ...([
    'url',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'uuid',
    'regex',
    'json-pointer',
    'json-pointer-uri-fragment',
  ] as const),
  'relative-json-pointer',
];

/** Formats of the OpenAPI registry. Each is checked, or restricts nothing. */
const OPENAPI = ['int32', 'int64', 'float', 'double', 'byte', 'binary', 'password'];

const KNOWN: ReadonlySet<string> = new Set([...CHECKED, ...OPENAPI]);

/** Whether a format is known. An unknown format is an annotation (JSON Schema 2020-12, Validation §7.2.3). */
export const knownFormat = (format: string): boolean => KNOWN.has(format);
