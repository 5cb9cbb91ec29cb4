export { faultOf, type Problem, waitForTurn } from './connection.ts';
export { CUT_OFF, type Limits, type Listening, listen } from './listen.ts';
export { http, type OnRejected, PROBLEM_DETAILS } from './rejected.ts';
