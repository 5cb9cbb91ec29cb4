const { PATH, NODE_COMPILE_CACHE, CONTRACT_SEED } = process.env;

/** The variables that tests pass to the programs that they start. */
export const ENVIRONMENT = { PATH, NODE_COMPILE_CACHE, CONTRACT_SEED };
