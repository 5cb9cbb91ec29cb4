import { ConfigError } from './environment.ts';

/** Node's error codes for an address, in words. */
const ADDRESS_ERRORS: Readonly<Record<string, (portName: string) => string>> = {
  EADDRINUSE: (portName) => `is taken by another process: stop that one, or set ${portName} to another port`,
  EACCES: (portName) => `may not be used by this user: set ${portName} to a port from 1024 on`,
  EADDRNOTAVAIL: () => 'is not an address of this machine: set HOST to one, such as 127.0.0.1 or 0.0.0.0',
  ENOTFOUND: () => 'is not known: set HOST to an address of this machine, such as 127.0.0.1 or 0.0.0.0',
  EAI_AGAIN: () => 'cannot be looked up now: set HOST to an address of this machine, such as 127.0.0.1 or 0.0.0.0',
};

/** Throws Node's error for an address that cannot be listened on, in words. @param portName the port's variable */
export const rejectAddress =
  (portName: string) =>
  (error: unknown): never => {
    if (!Error.isError(error)) throw error;
    const { code, address, port, hostname } = error as Error & Record<string, unknown>;
    const words = ADDRESS_ERRORS[String(code)];
    if (words === undefined) throw error;
    const place = [address ?? hostname, port].filter((part) => part !== undefined).join(' port ');
    throw new ConfigError(`${place} ${words(portName)}`, { cause: error });
  };
