// The compiler API that TypeScript 7 lacks, and the generator that needs it.
export { astToString, default as openapiTypes } from 'openapi-typescript';
export { default as ts } from 'typescript';
