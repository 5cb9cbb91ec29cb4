import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
import { freePort } from 'test-support/free-port';
import { copyProject } from 'test-support/project';
import { shellQuoted } from '../packages/spec-first-server/src/serve/terminal.ts';
import { PROJECT } from './support/launch.ts';
import { type Block, readMarkdown } from './support/markdown.ts';
import { isCode, isDocument, PAGES, projectOf, readPage, wordOf } from './support/page-project.ts';

/** The reasons why a block with `needs=NAME` is not run. */
const NEEDS: Readonly<Record<string, string>> = {
  claude: 'configures another program',
  docker: 'npm run test:image builds and runs the images',
  issuer: 'needs a provider of signed tokens',
  itself: 'runs all tests, and so these',
  java: 'needs Java and Specmatic',
  overlay: 'needs a document of another team',
  patroni: 'needs a cluster of PostgreSQL',
  pip: 'needs Python and Schemathesis',
  postgres: 'needs a PostgreSQL server; other tests run the commands with their own',
  receiver: 'runs until it is stopped; the tests of the example have a receiver',
  registry: 'the libraries are on no registry yet; npm run test:registry uses one of its own',
  root: 'changes the users and services of the machine',
  service: 'needs a service in another language',
  vitest: 'needs Vitest',
  wrk: 'npm run bench measures for five minutes',
};

const folder = mkdtempSync(join(tmpdir(), 'pages-'));
/** A clean copy of the project, without installed packages. */
const checkout = join(folder, 'openapi-plant-store');
const results = new Map<string, string[]>();
const count = (result: string, page: string) =>
  results.set(result, [...(results.get(result) ?? []), page]);
let port = 0;

beforeAll(async () => {
  const copy = copyProject();
  rmSync(join(copy, 'node_modules'));
  renameSync(copy, checkout);
  // Files that a reader of the pages has.
  cpSync(join(PROJECT, 'packages/spec-first/test/library'), join(checkout, 'path/to'), {
    recursive: true,
  });
  mkdirSync(join(checkout, 'backups'));
  port = await freePort();
});
afterAll(() => {
  for (const page of PAGES) {
    for (const block of blocksOf(page)) {
      const need = wordOf(block, 'needs');
      if (isCode(block)) count('compiled', page);
      else if (wordOf(block, 'file') !== undefined) count('compared with the file', page);
      else if (need !== undefined) count(`left out: ${NEEDS[need]}`, page);
      else if (!isShell(block)) count(`shown: ${block.language || 'text'}`, page);
    }
  }
  const summary = Array.from(results, ([result, pages]) => `${pages.length} ${result}`);
  console.log(`Blocks of the pages:\n${summary.sort().join('\n')}`);
  rmSync(folder, { recursive: true, force: true });
});

/** The way of npm to its registry. Without the certificates, each request is repeated for a minute. */
const { HOME, NODE_EXTRA_CA_CERTS, HTTPS_PROXY, NO_PROXY, npm_config_registry } = process.env;
const REGISTRY = { HOME, NODE_EXTRA_CA_CERTS, HTTPS_PROXY, NO_PROXY, npm_config_registry };

/** Starts servers in the background, and lets curl fail for the status of an error. */
const PRELUDE = `
set -euo pipefail
server=
stop() {
  [ -z "$server" ] || { kill -TERM -- "-$server" 2>/dev/null || :; wait "$server" || :; }
  server=
}
trap stop EXIT
start() {
  stop
  set -m
  (eval "$1") &
  server=$!
  set +m
  until command curl --silent --output /dev/null --max-time 5 "http://127.0.0.1:$PORT/"; do
    kill -0 "$server"
    sleep 0.2
  done
}
allowed=
curl() {
  local code=0 time=60
  case " $* " in *' -N '*) time=2 ;; esac
  command curl --fail-with-body --silent --show-error --max-time "$time" "$@" || code=$?
  # 28: a stream that does not end. 22: the status of an error.
  [ "$code" = 0 ] || [ "$code $time" = '28 2' ] || [ "$code $allowed" = '22 error' ]
}
`;

/** Matches a command that runs until it is stopped. */
const SERVER = /(?:npm start|npm run (?:dev|start:\w+)|spec-first(?:-server main\.ts| dev))$/;

/** Returns the script of a block. A command begins at each line that continues none. */
function scriptOf(block: Block): string {
  const code = block.code
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)
    // The variable of the test, since the script waits until this port is open.
    .replaceAll('PORT=0 ', '');
  // The folder of a server is that of the commands after it, too.
  const commands = code
    .trim()
    .replaceAll(/^(cd \S+) && /gm, '$1\n')
    .split(/(?<!\\)\n/);
  const lines = commands.map((command) =>
    SERVER.test(command) ? `start ${shellQuoted(command)}` : command,
  );
  const target = wordOf(block, 'in');
  const change = target === undefined ? [] : [`cd "$CHECKOUT/${target}"`];
  return [...change, `allowed=${wordOf(block, 'allowed') ?? ''}`, ...lines].join('\n');
}

const isShell = ({ language }: Block) => language === 'sh' || language === 'bash';
const blocksOf = (page: string) => readMarkdown(readPage(page)).blocks;

/** Returns the folder in which the commands of a page run. */
async function folderOf(page: string): Promise<string> {
  if (page.includes('templates')) return join(folder, 'library');
  if (!page.startsWith('docs/') || !blocksOf(page).some(isDocument)) return checkout;
  // A folder beside it, such as that of a front end, is removed with it.
  const project = join(folder, basename(page, '.md'));
  cpSync((await projectOf(page)).folder, project, { recursive: true, verbatimSymlinks: true });
  return project;
}

/** Writes the files of the smallest service, as its reader does. */
function writeGreetings(): void {
  const greetings = join(folder, 'greetings');
  mkdirSync(greetings);
  for (const block of blocksOf('packages/spec-first-server/README.md')) {
    if (isDocument(block)) writeFileSync(join(greetings, 'openapi.yaml'), block.code);
    if (block.code.startsWith('// main.ts')) writeFileSync(join(greetings, 'main.ts'), block.code);
  }
}

// The first page installs the packages of the copy.
const pages = PAGES.filter((page) => blocksOf(page).some(isShell)).sort(
  (left, right) => Number(right === 'README.md') - Number(left === 'README.md'),
);

test.each(pages)(
  'the commands of %s succeed',
  async (page) => {
    const blocks = blocksOf(page).filter(isShell);
    const scripts = blocks.flatMap((block) => {
      const need = wordOf(block, 'needs');
      if (need === undefined) return [scriptOf(block)];
      if (NEEDS[need] === undefined) throw new Error(`${page}: needs=${need} has no reason`);
      return [];
    });
    if (page === 'packages/spec-first-server/README.md') writeGreetings();
    const cwd = await folderOf(page);
    const { status, output } = spawnSync('bash', ['-c', PRELUDE + scripts.join('\n')], {
      cwd,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
      env: {
        ...ENVIRONMENT,
        PATH: ['node_modules/.bin', process.env.PATH].join(delimiter),
        ...REGISTRY,
        CHECKOUT: checkout,
        PORT: String(port),
        TOKEN: 'secret',
        DEVELOPMENT_TOKEN: 'secret',
        GIT_AUTHOR_NAME: 'A reader',
        GIT_AUTHOR_EMAIL: 'reader@example.com',
        GIT_COMMITTER_NAME: 'A reader',
        GIT_COMMITTER_EMAIL: 'reader@example.com',
        npm_config_audit: 'false',
        npm_config_fund: 'false',
        npm_config_prefer_offline: 'true',
        npm_config_update_notifier: 'false',
      },
    });
    const text = output.filter(Boolean).join('\n').slice(-6000);
    expect(`${status === 0 ? '' : text}`).toBe('');
    for (const _ of scripts) count('run', page);
  },
  3_600_000,
);
