/** Checks the OpenAPI document, and writes its types. With `--check`, only compares them. */
import 'spec-first-server/compile-cache';

const { generate } = await import('spec-first');
process.exitCode = await generate(process.argv.slice(2));
