import { fullFormats } from 'ajv-formats/dist/formats.js';

/** Formats of the OpenAPI registry. Each is checked, or restricts nothing. */
const OPENAPI = new Set(['int32', 'int64', 'float', 'double', 'byte', 'binary', 'password']);

/** Whether a format is known. An unknown format is an annotation (JSON Schema 2020-12, Validation §7.2.3). */
export const knownFormat = (format: string): boolean => OPENAPI.has(format) || Object.hasOwn(fullFormats, format);
