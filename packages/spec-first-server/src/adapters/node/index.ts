export { type TrustProxy, validAddress } from './client-address.ts';
export { NodeCall } from './node-call.ts';
export { type NodeOptions, nodeListener, requestError, requestListener } from './node-listener.ts';
export { discardBody, writeBody } from './write-answer.ts';
