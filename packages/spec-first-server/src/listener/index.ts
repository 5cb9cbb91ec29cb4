export { type Limits, type Listening, listen } from './listen.ts';
export type { FailureResponse } from './reject.ts';
