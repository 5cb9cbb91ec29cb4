export { NodeCall, type TrustProxy, validAddress } from './node-call.ts';
export { type NodeOptions, nodeListener, requestError, requestListener } from './node-listener.ts';
