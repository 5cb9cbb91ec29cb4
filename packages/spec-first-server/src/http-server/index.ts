export { waitForTurn } from './connection.ts';
export { faultOf } from './faults.ts';
export { type Listening, listen } from './listen.ts';
export { CUT_OFF, type Limits, type OnRejected, PROBLEM_DETAILS, type Problem } from './options.ts';
