import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A server to measure. */
export interface Contender {
  /** Says what it is and where a plant is when its answer is sent. */
  readonly name: string;
  /** The program to run. */
  readonly file: string;
  /** Its variables, beside `PORT`, `ACCESS_TOKENS` and `PATH`. */
  readonly env: Readonly<Record<string, string>>;
}

const root = join(import.meta.dirname, '../..');

const other =
  (name: string, program: string, own = {}) =>
  (env: Contender['env']): Contender => ({
    name: `${name}, ${env.PLANTS_FILE === undefined ? 'in memory' : 'a commit per request'}`,
    file: join(import.meta.dirname, 'contenders', program),
    env: { ...env, ...own },
  });
const nodeHttp = other('node:http', 'node-http.ts');
const express = other('Express', 'express.ts');
const expressWithEov = other('Express + EOV', 'express.ts', { EOV: '1' });
const fastify = other('Fastify + openapi-glue', 'fastify-openapi-glue.ts');

/** The service as it ships. */
const service = (env: Contender['env']): Contender => ({
  name: `This service, ${env.DATABASE_URL === 'sqlite::memory:' ? 'in memory' : 'on disk, shared commits'}`,
  file: join(root, 'src/main.ts'),
  env: { OPENAPI_FILE: join(root, 'openapi.yaml'), MISSING_OPERATIONS: '501', NODE_ENV: 'production', ...env },
});

/** The contenders. @param folder where they keep files */
export function contendersIn(folder: string): Contender[] {
  const inMemory = { OPENAPI_FILE: writeDocument(folder, 1) };
  const onDisk = (file: string) => ({ ...inMemory, PLANTS_FILE: join(folder, file) });
  return [
    ...[nodeHttp, express, expressWithEov, fastify].map((contender) => contender(inMemory)),
    service({ DATABASE_URL: 'sqlite::memory:' }),
    express(onDisk('express.db')),
    expressWithEov(onDisk('eov.db')),
    fastify(onDisk('fastify.db')),
    service({ DATABASE_URL: process.env.DATABASE_URL ?? `sqlite:${folder}/plants.db` }),
  ];
}

/** The service with more and more paths in its document. */
export const contendersByPaths = (folder: string): Contender[] =>
  [1, 10, 100, 1000].map((paths) => {
    const ours = service({ OPENAPI_FILE: writeDocument(folder, paths), DATABASE_URL: 'sqlite::memory:' });
    return { ...ours, name: `${ours.name}, ${paths} paths` };
  });

/**
 * Writes the plant store's document with that many paths, `/plants` in the middle of them. The server is "/", since
 * express-openapi-validator misreads server variables and then checks nothing.
 */
function writeDocument(folder: string, paths: number): string {
  const document = parse(readFileSync(join(root, 'openapi.yaml'), 'utf8'));
  const content = { 'application/json': { schema: { type: 'object', properties: { text: { type: 'string' } } } } };
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }];
  const items = Array.from({ length: paths - 1 }, (_, index): [string, object] => {
    const responses = { 200: { description: '', content } };
    const post = { operationId: `addNote${index}`, requestBody: { content }, responses };
    return [`/gardens${index}/{id}/notes`, { parameters, post }];
  });
  items.splice(items.length / 2, 0, ['/plants', document.paths['/plants']]);
  const file = join(folder, `openapi-${paths}.json`);
  writeFileSync(file, JSON.stringify({ ...document, servers: [{ url: '/' }], paths: Object.fromEntries(items) }));
  return file;
}
