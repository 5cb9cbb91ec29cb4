export { LIMITS, type Limits } from './limits.ts';
export { type Listening, type ListenOptions, listen } from './listen.ts';
export { CutOff, PROBLEM_DETAILS, type Problem, type ProblemBody } from './problem.ts';
export type { OnRejected } from './rejected.ts';
