// TypeScript for tests that import it. Jest parses a file twice to find the exports that an ES module
// imports from it. This takes more than half a second for TypeScript, and no time for this file.
const typescript = require('../../packages/test-support/node_modules/typescript');

module.exports = typescript;
