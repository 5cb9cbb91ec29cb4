export { type TrustProxy, validAddress } from './client-address.ts';
export { faultOf } from './faults.ts';
export { type Limits, type Listening, listen } from './listen.ts';
export { type NodeOptions, nodeListener, serviceListener, watchEnd } from './listener.ts';
export { NodeCall } from './node-call.ts';
export { http, type OnRejected } from './rejected.ts';
export { hasBody } from './request-body.ts';
export { discardBody, writeBody } from './write-answer.ts';
