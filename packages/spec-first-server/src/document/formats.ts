import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const ajv = new Ajv2020();
addFormats.default(ajv);

/** Formats of the OpenAPI registry that are checked, or say nothing that could be. */
const OPENAPI = new Set(['int32', 'int64', 'float', 'double', 'byte', 'binary', 'password']);

/** Whether values are checked against a format; one that is not known is an annotation (JSON Schema). */
export const knownFormat = (format: string): boolean => OPENAPI.has(format) || ajv.formats[format] !== undefined;
