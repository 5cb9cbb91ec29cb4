export { waitForTurn } from './connection.ts';
export { faultOf } from './faults.ts';
export { type Listening, listen } from './listen.ts';
export { LIMITS, type Limits, type ListenOptions, type OnRejected } from './options.ts';
export { CUT_OFF, PROBLEM_DETAILS, type Problem, type ProblemBody } from './problem.ts';
