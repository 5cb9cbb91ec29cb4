export { type Limits, type Listening, listen } from './listen.ts';
export { http, type OnRejected } from './rejected.ts';
