/** Parts of `serve` for the command line of spec-first, and for scripts beside a service. */
export { SERVER_HEADERS } from './core/response/headers.ts';
export type { StartMessage } from './serve/announce.ts';
export {
  hasCredentials,
  loadEnvFile,
  readConfig,
  readEnvFile,
  readVariables,
} from './serve/configuration.ts';
export { stopWithNpm } from './serve/stop.ts';
export { banner, type Started, shellQuoted } from './serve/terminal.ts';
