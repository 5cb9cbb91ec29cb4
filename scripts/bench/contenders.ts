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

/**
 * Lists the contenders. The first one is the measure of the others.
 *
 * @param folder for their files.
 */
export function contendersIn(folder: string): Contender[] {
  const OPENAPI_FILE = join(folder, 'openapi.json');
  const document = parse(readFileSync(join(root, 'openapi.yaml'), 'utf8'));
  // express-openapi-validator misreads server variables, and then checks nothing.
  writeFileSync(OPENAPI_FILE, JSON.stringify({ ...document, servers: [{ url: '/' }] }));
  const other = (name: string, program: string, options = {}): Contender => ({
    name,
    file: join(import.meta.dirname, 'contenders', program),
    env: { OPENAPI_FILE, ...options },
  });
  const service = (name: string, DATABASE_URL: string): Contender => ({
    name: `This service, ${name}`,
    file: join(root, 'src/main.ts'),
    env: { OPENAPI_FILE: join(root, 'openapi.yaml'), DATABASE_URL },
  });
  return [
    other('Express, in memory', 'express.ts'),
    other('Express + EOV, in memory', 'express.ts', { EOV: '1' }),
    other('Fastify + openapi-glue, in memory', 'fastify.ts'),
    other('Fastify with the same work, in memory', 'fastify.ts', { SAME_WORK: '1' }),
    service('in memory', 'sqlite::memory:'),
    other('Express, a commit per request', 'express.ts', {
      PLANTS_FILE: join(folder, 'express.db'),
    }),
    service('on disk, shared commits', `sqlite:${folder}/plants.db`),
  ];
}
