const { PATH, NODE_COMPILE_CACHE } = process.env;

/** What programs that tests start get from the environment of the tests. */
export const ENVIRONMENT = { PATH, NODE_COMPILE_CACHE };
