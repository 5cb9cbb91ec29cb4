/** The build script: lints the OpenAPI document and writes its types. With `--check` it only compares. */
import { generate } from 'spec-first';

process.exitCode = await generate(process.argv.slice(2));
