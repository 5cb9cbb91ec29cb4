// Imports nothing: older versions of Node cannot load the other modules.

const MIN_NODE = 24;

/**
 * Returns a message if a version of Node is too old, otherwise `undefined`.
 *
 * @param command the command line to run again.
 */
export function problemWithNode(version: string, command: string): string | undefined {
  if (Number.parseInt(version, 10) >= MIN_NODE) return undefined;
  const tool = command.split(' ', 1)[0];
  return `${tool} needs Node.js ${MIN_NODE} or newer, but this is ${version}. Install a newer
version from https://nodejs.org, or run it once with a version from npm:

  npx --yes --package=node@${MIN_NODE} --package=${tool} -- ${command}`.trimEnd();
}
