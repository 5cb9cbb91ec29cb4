export { Unavailable, Unusable } from '../errors.ts';
export { openDatabase, type SqliteDatabase, type SqliteOptions } from './database.ts';
