export { type DatabaseOptions, openDatabase, type PostgresDatabase } from './database.ts';
export { adviceOn, DatabaseUnavailable, DatabaseUnusable, hasNoTls, RowRejected, reason } from './errors.ts';
export { readUrl } from './url.ts';
