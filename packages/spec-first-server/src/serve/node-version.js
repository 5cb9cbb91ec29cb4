// Ends the process if Node is too old. Imports nothing, since older versions cannot load the other
// modules: a program imports this module first, and the others by `import()`.

const MIN_NODE = 24;

const { node } = process.versions;
if (Number.parseInt(node, 10) < MIN_NODE) {
  console.error(`Node.js ${MIN_NODE} or newer is required, but this is ${node}.
Use a script of the project, such as "npm start", install a newer version from https://nodejs.org,
or run the command with one from npm:

  npx --yes --package=node@${MIN_NODE} -c 'COMMAND'`);
  process.exit(1);
}
