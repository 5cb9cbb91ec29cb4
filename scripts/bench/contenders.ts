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

const kept = ({ PLANTS_FILE: file }: Contender['env']) => (file === undefined ? 'in memory' : 'a commit per request');

const other =
  (name: string, program: string) =>
  (env: Contender['env']): Contender => ({
    name: `${name}, ${kept(env)}`,
    file: join(import.meta.dirname, 'contenders', program),
    env,
  });
const nodeHttp = other('node:http', 'node-http.ts');
const express = other('Express', 'express.ts');
const expressWithEov = (env: Contender['env']) => other('Express + EOV', 'express.ts')({ ...env, EOV: '1' });
const fastify = other('Fastify + openapi-glue', 'fastify-openapi-glue.ts');

/** The service as it ships. */
const service = (env: Contender['env']): Contender => ({
  name: `This service, ${env.DATABASE_URL === 'sqlite::memory:' ? 'in memory' : 'on disk, shared commits'}`,
  file: join(root, 'src/main.ts'),
  env: { OPENAPI_FILE: join(root, 'openapi.yaml'), MISSING_OPERATIONS: '501', NODE_ENV: 'production', ...env },
});

/** The contenders of each benchmark. @param folder where they keep files */
export const BENCHMARKS = {
  all(folder: string): Contender[] {
    const inMemory = { OPENAPI_FILE: writeDocument(folder, 1) };
    const onDisk = (file: string) => ({ ...inMemory, PLANTS_FILE: join(folder, file) });
    return [
      nodeHttp(inMemory),
      express(inMemory),
      expressWithEov(inMemory),
      fastify(inMemory),
      service({ DATABASE_URL: 'sqlite::memory:' }),
      express(onDisk('express.db')),
      expressWithEov(onDisk('eov.db')),
      fastify(onDisk('fastify.db')),
      service({ DATABASE_URL: process.env.DATABASE_URL ?? `sqlite:${folder}/plants.db` }),
    ];
  },
  paths: (folder: string): Contender[] =>
    [1, 10, 100, 1000].flatMap((paths) => {
      const env = { OPENAPI_FILE: writeDocument(folder, paths), DATABASE_URL: 'sqlite::memory:' };
      return [expressWithEov(env), service(env)].map((one) => ({ ...one, name: `${one.name}, ${paths} paths` }));
    }),
  workers: (folder: string): Contender[] =>
    [1, 2, 4].map((workers) => {
      const DATABASE_URL = process.env.DATABASE_URL ?? `sqlite:${folder}/${workers}.db`;
      const ours = service({ DATABASE_URL, WORKERS: String(workers) });
      return { ...ours, name: `${ours.name}, WORKERS=${workers}` };
    }),
};

/**
 * Writes the plant store's document with that many paths, `/plants` in the middle of them. The server is "/", since
 * express-openapi-validator misreads server variables and then checks nothing.
 */
function writeDocument(folder: string, paths: number): string {
  const document = parse(readFileSync(join(root, 'openapi.yaml'), 'utf8'));
  const note = { type: 'object', required: ['text'], properties: { text: { type: 'string' } } };
  const items = Array.from({ length: paths - 1 }, (_, index): [string, object] => {
    document.components.schemas[`Note${index}`] = note;
    const content = { 'application/json': { schema: { $ref: `#/components/schemas/Note${index}` } } };
    const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }];
    const post = {
      operationId: `addNote${index}`,
      requestBody: { content },
      responses: { 200: { description: '', content } },
    };
    return [`/gardens${index}/{id}/notes`, { parameters, post }];
  });
  items.splice(items.length / 2, 0, ['/plants', document.paths['/plants']]);
  const file = join(folder, `openapi-${paths}.json`);
  writeFileSync(file, JSON.stringify({ ...document, servers: [{ url: '/' }], paths: Object.fromEntries(items) }));
  return file;
}
