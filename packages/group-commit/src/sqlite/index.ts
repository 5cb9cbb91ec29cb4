export { type Database, type DatabaseOptions, openDatabase } from './database.ts';
export { DatabaseUnavailable, DatabaseUnusable } from './errors.ts';
