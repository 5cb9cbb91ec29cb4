import { pino } from 'pino';
import {
  readConfig,
  readVariables,
} from '../../../packages/spec-first-server/src/serve/configuration.ts';
import { startService } from '../../../packages/spec-first-server/src/serve/start-service.ts';
import { errorBody } from '../../../src/errors.ts';
import { openPlants, variables } from '../../../src/plants.ts';

/** A running service in this process. */
export interface Running {
  readonly url: string;
  readonly token: string;
  stop(): Promise<void>;
}

/** Starts the plant store as `npm start` does, by default with a store in memory. */
export async function runPlants(env: Record<string, string> = {}): Promise<Running> {
  const token = 'test-token';
  const variablesOfTest = {
    PORT: '0',
    ACCESS_TOKENS: token,
    DATABASE_URL: 'sqlite::memory:',
    ...env,
  };
  const values = readVariables(variables, variablesOfTest);
  const stub = { open: openPlants.bind(undefined, values), errorBody, verifiers: undefined };
  const { started, stop } = await startService(
    readConfig(variablesOfTest),
    stub,
    pino({ level: 'silent' }),
  );
  return { url: started.url, token, stop };
}
