export { Unavailable, Unusable } from '../errors.ts';
export { clientFor } from './connect.ts';
export { openDatabase, type PostgresDatabase, type PostgresOptions } from './database.ts';
export { adviceOn, RowRejected, reason } from './errors.ts';
