/**
 * Makes the project that `npm create spec-first` makes, for those who have only this clone: the libraries are tarballs in
 * its folder `vendor`.
 *
 * Usage: npm run new -- DIR [DOCUMENT]
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { run } from 'spec-first/new';
import { pack } from './pack.ts';

const args = process.argv.slice(2);
const folder = args[0] ?? '';
process.exitCode = await run(args);
if (process.exitCode === 0 && !folder.startsWith('-')) addTarballs();

/** Has a new project install the libraries from its own folder. */
function addTarballs(): void {
  console.log('\nPacking the libraries …');
  mkdirSync(join(folder, 'vendor'));
  const tarballs = pack(join(folder, 'vendor'));
  edit('package.json', (text) => {
    const { dependencies, devDependencies, ...project } = JSON.parse(text);
    const local = (name: string) => [name, `file:vendor/${basename(tarballs.get(name) ?? '')}`];
    const own = ['openapi-document', 'spec-first-server'];
    Object.assign(dependencies, Object.fromEntries(own.map(local)));
    Object.assign(devDependencies, Object.fromEntries([local('spec-first')]));
    return `${JSON.stringify({ ...project, dependencies, devDependencies }, undefined, 2)}\n`;
  });
  edit('Dockerfile', (text) => text.replace('package-lock.json ./\n', 'package-lock.json ./\nCOPY vendor ./vendor\n'));
  console.log(`The libraries are tarballs in ${join(folder, 'vendor')}. To take them from a registry later:

  npm install spec-first@1 spec-first-server@1 openapi-document@1`);
}

function edit(name: string, change: (text: string) => string): void {
  const path = join(folder, name);
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}
