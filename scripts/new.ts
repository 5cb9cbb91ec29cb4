/**
 * Creates a project like `npm create spec-first`, with the libraries as tarballs in its folder
 * `vendor`. The libraries need not be published.
 *
 * Usage: npm run new -- DIR [DOCUMENT]
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { run } from 'spec-first/new';
import { pack } from './pack.ts';

/** Replaces `npm update` in the README: npm does not update tarballs. */
const UPGRADE =
  'In a checkout of the new libraries, run `npm run pack -- DIR/vendor` with the path of this\n' +
  'project. Here, run `npm install ./vendor/openapi-*.tgz ./vendor/spec-*.tgz`';

const args = process.argv.slice(2);
const folder = args.find((arg) => !arg.startsWith('-'));
process.exitCode = await run(args);
if (process.exitCode === 0 && folder !== undefined && !args.includes('--help')) addTarballs(folder);

/** Packs the libraries into the new project, and changes its dependencies to the tarballs. */
function addTarballs(folder: string): void {
  console.log('\nPacking the libraries …');
  const vendor = join(folder, 'vendor');
  mkdirSync(vendor);
  const tarballs = pack(vendor);
  const local = (...names: string[]) =>
    Object.fromEntries(
      names.map((name) => [name, `file:vendor/${basename(tarballs.get(name) ?? '')}`]),
    );
  edit(join(folder, 'package.json'), (text) => {
    const project = JSON.parse(text);
    Object.assign(project.dependencies, local('openapi-document', 'spec-first-server'));
    Object.assign(project.devDependencies, local('spec-first'));
    return `${JSON.stringify(project, undefined, 2)}\n`;
  });
  edit(join(folder, 'Dockerfile'), (text) =>
    text.replace('package-lock.json ./\n', 'package-lock.json ./\nCOPY vendor ./vendor\n'),
  );
  edit(join(folder, 'README.md'), (text) => text.replace('Run `npm update`', UPGRADE));
  console.log(`The libraries are tarballs in ${vendor}. To install them from a registry later:

  npm install spec-first@1 spec-first-server@1 openapi-document@1`);
}

function edit(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}
