/** A variable has a wrong value, or the file `.env` cannot be read. The message is one line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
