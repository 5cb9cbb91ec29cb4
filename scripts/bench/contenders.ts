import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A server to measure. Its process also gets `PORT` and `ACCESS_TOKENS`. */
export interface Contender {
  /** The name in the results, such as `Express, in memory`. */
  readonly name: string;
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
}

const root = join(import.meta.dirname, '../..');

const service = (variant: string, env: Contender['env']): Contender => ({
  name: `This service, ${variant}`,
  file: join(root, 'src/main.ts'),
  env: {
    OPENAPI_FILE: join(root, 'openapi.yaml'),
    MISSING_OPERATIONS: '501',
    NODE_ENV: 'production',
    ...env,
  },
});

/** Lists the contenders. @param folder contains their files */
export function contendersIn(folder: string): Contender[] {
  const OPENAPI_FILE = writeDocument(folder, 1);
  const variantsOf = (
    name: string,
    program: string,
    options = {},
  ): readonly [Contender, Contender] => {
    const inMemory = {
      file: join(import.meta.dirname, 'contenders', program),
      env: { OPENAPI_FILE, ...options },
    };
    const onDisk = {
      ...inMemory,
      env: { ...inMemory.env, PLANTS_FILE: join(folder, `${name}.db`) },
    };
    return [
      { ...inMemory, name: `${name}, in memory` },
      { ...onDisk, name: `${name}, a commit per request` },
    ];
  };
  return [
    variantsOf('node:http', 'node-http.ts')[0],
    ...variantsOf('Express', 'express.ts'),
    ...variantsOf('Express + EOV', 'express.ts', { EOV: '1' }),
    ...variantsOf('Fastify + openapi-glue', 'fastify-openapi-glue.ts'),
    service('in memory', { DATABASE_URL: 'sqlite::memory:' }),
    service('on disk, shared commits', {
      DATABASE_URL: process.env.DATABASE_URL ?? `sqlite:${folder}/plants.db`,
    }),
  ];
}

export const contendersByPaths = (folder: string): Contender[] =>
  [1, 10, 100, 1000].map((paths) =>
    service(`${paths} paths`, {
      OPENAPI_FILE: writeDocument(folder, paths),
      DATABASE_URL: 'sqlite::memory:',
    }),
  );

/**
 * Writes the document of the plant store with a number of paths, and `/plants` in the middle. The
 * server URL is "/", since express-openapi-validator misreads server variables and then checks
 * nothing.
 */
function writeDocument(folder: string, paths: number): string {
  const document = parse(readFileSync(join(root, 'openapi.yaml'), 'utf8'));
  const content = {
    'application/json': { schema: { type: 'object', properties: { text: { type: 'string' } } } },
  };
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }];
  const items = Array.from({ length: paths - 1 }, (_, index): [string, object] => {
    const responses = { 200: { description: '', content } };
    const post = { operationId: `addNote${index}`, requestBody: { content }, responses };
    return [`/gardens${index}/{id}/notes`, { parameters, post }];
  });
  items.splice(items.length / 2, 0, ['/plants', document.paths['/plants']]);
  const file = join(folder, `openapi-${paths}.json`);
  writeFileSync(
    file,
    JSON.stringify({ ...document, servers: [{ url: '/' }], paths: Object.fromEntries(items) }),
  );
  return file;
}
