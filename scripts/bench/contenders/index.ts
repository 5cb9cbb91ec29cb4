import { fileURLToPath } from 'node:url';

/** A server to be measured, and what it is called in tables and charts. */
export interface Contender {
  readonly name: string;
  /** Where an answered plant is. */
  readonly kept: 'memory' | 'disk';
  /** How many paths its document has. */
  readonly paths: number;
  readonly workers: number;
  /** The program. */
  readonly file: string;
  /** The database file in its own folder, if it keeps plants in SQLite. */
  readonly database?: string;
  /** Whether it must refuse a missing token and a body that breaks the document. */
  readonly checks: boolean;
  /** Its environment, beside the port, the token and `PATH`. */
  env(folder: string): Record<string, string>;
}

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const one = { paths: 1, workers: 1 };
const plants = (folder: string) => `${folder}/plants.db`;

/** What the load reaches against Node's bare HTTP server: nothing faster than this can be measured. */
export const ceiling: Contender = {
  ...one,
  name: 'node:http',
  kept: 'memory',
  file: file('./node-http.ts'),
  checks: false,
  env: () => ({}),
};

export function express(kept: Contender['kept']): Contender {
  return {
    ...one,
    name: 'Express',
    kept,
    file: file('./express.ts'),
    checks: false,
    ...(kept === 'disk' && { database: 'plants.db' }),
    env: (folder) => ({ ...(kept === 'disk' && { PLANTS_FILE: plants(folder) }) }),
  };
}

/** @param document a file whose `servers` express-openapi-validator reads as "/". */
export function expressEov(kept: Contender['kept'], document: string, paths = 1): Contender {
  return {
    ...express(kept),
    name: 'Express + EOV',
    paths,
    file: file('./express-eov.ts'),
    checks: true,
    env: (folder) => ({ OPENAPI_FILE: document, ...(kept === 'disk' && { PLANTS_FILE: plants(folder) }) }),
  };
}

/** On PostgreSQL, with what the service spares it: a statement and a commit for each request. */
export function expressPostgres(databaseUrl: string): Contender {
  return {
    ...one,
    name: 'Express on PostgreSQL',
    kept: 'disk',
    file: file('./express-postgres.ts'),
    checks: false,
    env: () => ({ DATABASE_URL: databaseUrl }),
  };
}

/** A `databaseUrl` with which the service keeps plants as its rivals in memory do. */
export const inMemory = 'sqlite::memory:';

/** The service as it ships, with its log in a file. */
export function service(settings: {
  readonly name?: string;
  readonly document?: string;
  readonly paths?: number;
  readonly workers?: number;
  readonly databaseUrl?: string;
}): Contender {
  const { name = 'This service', document, paths = 1, workers = 1, databaseUrl } = settings;
  return {
    name,
    kept: databaseUrl === inMemory ? 'memory' : 'disk',
    paths,
    workers,
    file: file('../../../src/main.ts'),
    checks: true,
    ...(databaseUrl === undefined && { database: 'plants.db' }),
    env: (folder) => ({
      HOST: '127.0.0.1',
      DATABASE_URL: databaseUrl ?? `sqlite:${plants(folder)}`,
      WORKERS: String(workers),
      LOG_LEVEL: 'info',
      MISSING_OPERATIONS: '501',
      ...(document !== undefined && { OPENAPI_FILE: document }),
    }),
  };
}
