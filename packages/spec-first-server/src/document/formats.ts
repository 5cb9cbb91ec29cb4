import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const ajv = new Ajv2020();
addFormats.default(ajv);

/** Formats of the OpenAPI registry. Each is checked, or restricts nothing. */
const OPENAPI = new Set(['int32', 'int64', 'float', 'double', 'byte', 'binary', 'password']);

/** Whether a format is known. An unknown format is an annotation (JSON Schema 2020-12, Validation §7.2.3). */
export const knownFormat = (format: string): boolean => OPENAPI.has(format) || ajv.formats[format] !== undefined;
