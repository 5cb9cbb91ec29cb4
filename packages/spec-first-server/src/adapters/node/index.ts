export { type TrustProxy, validAddress } from './client-address.ts';
export { type NodeOptions, nodeListener, serviceListener, watchEnd } from './listener.ts';
export { NodeCall } from './node-call.ts';
export { discardBody, writeBody } from './write-answer.ts';
