export { Unavailable, Unusable } from '../errors.ts';
export { openDatabase, type PostgresDatabase, type PostgresOptions } from './database.ts';
export { RowRejected } from './errors.ts';
