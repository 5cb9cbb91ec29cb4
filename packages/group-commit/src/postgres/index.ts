export { Unavailable, Unusable } from '../errors.ts';
export { openDatabase, type PostgresDatabase, type PostgresOptions } from './database.ts';
export { adviceOn, hasNoTls, RowRejected, reason } from './errors.ts';
export { readUrl } from './url.ts';
