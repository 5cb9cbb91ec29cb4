import { pino } from 'pino';
import { type Config, readConfig } from '../../../src/config.ts';
import { startService } from '../../../src/service.ts';

/** The whole service in this process, on a port of its own. */
export interface Running {
  readonly url: string;
  readonly token: string;
  stop(): Promise<void>;
}

/** Starts the plant store as `npm start` does, with plants in memory unless `env` says otherwise. */
export async function runPlants(env: Record<string, string> = {}): Promise<Running> {
  const token = 'test-token';
  const config: Config = readConfig({
    PORT: '0',
    ACCESS_TOKENS: token,
    DATABASE_URL: 'sqlite::memory:',
    ...env,
  });
  const { started, stop } = await startService(config, pino({ level: 'silent' }));
  return { url: started.url, token, stop };
}
