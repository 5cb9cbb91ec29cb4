import { fileURLToPath } from 'node:url';
import type { Subject } from '../results.ts';

/** A server to measure. */
export interface Contender extends Subject {
  /** The program to run. */
  readonly file: string;
  /** The SQLite file in its folder; without it, nobody counts the stored plants. */
  readonly database?: string;
  /** True if it must reject a missing token and an invalid body. */
  readonly checks: boolean;
  /** Its environment variables, beside `PORT`, `ACCESS_TOKENS` and `PATH`. */
  env(folder: string): Record<string, string>;
}

const rivals = {
  'node:http': { program: './node-http.ts', checks: false },
  Express: { program: './express.ts', checks: false },
  'Express + EOV': { program: './express-eov.ts', checks: true },
  'Express + openapi-backend': { program: './express-openapi-backend.ts', checks: true },
  'Fastify + openapi-glue': { program: './fastify-openapi-glue.ts', checks: true },
};

const fileOf = (program: string) => fileURLToPath(new URL(program, import.meta.url));
const database = 'plants.db';

/** @param document a document whose server is "/" */
export function rival(
  name: keyof typeof rivals,
  kept: 'in memory' | 'a commit per request',
  document: string,
  paths = 1,
): Contender {
  const { program, checks } = rivals[name];
  const common = { name, kept, paths, workers: 1, file: fileOf(program), checks };
  if (kept === 'in memory') return { ...common, env: () => ({ OPENAPI_FILE: document }) };
  return {
    ...common,
    database,
    env: (folder) => ({ OPENAPI_FILE: document, PLANTS_FILE: `${folder}/${database}` }),
  };
}

export function expressOnPostgres(databaseUrl: string): Contender {
  return {
    name: 'Express on PostgreSQL',
    kept: 'a commit per request',
    paths: 1,
    workers: 1,
    file: fileOf('./express-postgres.ts'),
    checks: false,
    env: () => ({ DATABASE_URL: databaseUrl }),
  };
}

/** The service as it ships, with its log in a file. Without `databaseUrl` it stores plants in a SQLite file. */
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
    kept: databaseUrl === 'sqlite::memory:' ? 'in memory' : 'on disk, shared commits',
    paths,
    workers,
    file: fileOf('../../../src/main.ts'),
    checks: true,
    ...(databaseUrl === undefined && { database }),
    env: (folder) => ({
      HOST: '127.0.0.1',
      DATABASE_URL: databaseUrl ?? `sqlite:${folder}/${database}`,
      WORKERS: String(workers),
      LOG_LEVEL: 'info',
      MISSING_OPERATIONS: '501',
      ...(document !== undefined && { OPENAPI_FILE: document }),
    }),
  };
}
