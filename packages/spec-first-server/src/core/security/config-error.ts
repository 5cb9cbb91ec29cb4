/** Thrown if a setting is wrong or a file with settings cannot be read. Has a one-line message. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
