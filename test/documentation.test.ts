import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
import { copyProject } from 'test-support/project';
import { plantsIn } from './plants/support/plant-service.ts';
import { endAll, launch, PROJECT, post } from './support/launch.ts';
import { readMarkdown } from './support/markdown.ts';
import { PAGES, readPage } from './support/page-project.ts';

const read = (file: string): string => readFileSync(join(PROJECT, file), 'utf8');
/** The pages about this service, rather than about one of the reader. */
const OWN_PAGES = [
  'README.md',
  ...['operating', 'databases', 'deploying', 'design', 'security', 'performance'].map(
    (name) => `docs/${name}.md`,
  ),
];
const pages = new Map(OWN_PAGES.map((file) => [file, readMarkdown(read(file))]));
const commands = [...pages.values()].flatMap((markdown) => markdown.commands);

/** A copy of the project, in which the commands run. */
const folder = copyProject();
afterAll(async () => {
  await endAll();
  rmSync(folder, { recursive: true });
});

/** Returns the documented command that starts with this text. @throws {Error} if there is none. */
function command(prefix: string): string {
  const line = commands.find((each) => each.startsWith(prefix));
  if (line === undefined) throw new Error(`no page has a command ${prefix}…`);
  return line;
}

function run(line: string, variables: Readonly<Record<string, string>> = {}): string {
  const env = { ...ENVIRONMENT, HOME: process.env.HOME, NO_COLOR: '1', ...variables };
  return execFileSync('sh', ['-c', line], { cwd: folder, env, encoding: 'utf8' });
}

test('the first steps of the README store a plant', async () => {
  const service = launch({ DATABASE_URL: '' }, { cwd: folder, main: 'src/main.ts' });
  const { url, token, example } = await service.line(({ msg }) => msg === 'listening');
  const curl = command('curl ').replace('http://127.0.0.1:3000', String(url));
  const response = run(`${curl} --silent --show-error`, { TOKEN: String(token) });
  const { blocks } = pages.get('README.md') ?? readMarkdown('');
  const following = blocks.findIndex(({ code }) => code.startsWith('curl ')) + 1;
  expect(`${response}\n`).toBe(blocks[following]?.code);

  run(`${String(example).replace('"id":1,', '"id":2,')} --silent --show-error`);
  expect([...plantsIn(join(folder, 'data/plants.db')).keys()]).toEqual([1n, 2n]);
});

test('the documented commands create a token, its digest and a file .env', async () => {
  run(command('echo '));
  const env = readFileSync(join(folder, '.env'), 'utf8');
  const [, token = ''] = /^ACCESS_TOKENS=([0-9a-f]{64})\n$/.exec(env) ?? [];
  const service = launch({ ACCESS_TOKENS: run(command('printf '), { TOKEN: token }).trim() });
  expect(await post(await service.url, { id: 1, name: 'Fern' }, token)).toBe(200);
});

test('the documented commands restore a backup', async () => {
  const database = join(folder, 'data/plants.db');
  run(command('npm run backup -- backup.db'));
  writeFileSync(`${database}-wal`, 'the log of another file');
  run(command('cp backup.db'));
  expect(plantsIn(database).size).toBe(2);
});

test('every script that a page names exists', () => {
  const scriptsOf = (file: string) => Object.keys(JSON.parse(read(file)).scripts);
  const template = 'packages/spec-first/templates/project/package.json';
  const shop = 'examples/shop/package.json';
  const scripts = new Set(['package.json', template, shop].flatMap(scriptsOf));
  const named = PAGES.flatMap((page) =>
    Array.from(readPage(page).matchAll(/\bnpm run ([\w:-]+\w)/g), ([, name = '']) => name),
  );
  expect(named.filter((name) => !scripts.has(name))).toEqual([]);
});

/** The anchors that GitHub creates for the headings of a page. */
const anchors = (file: string): Set<string> =>
  new Set(
    Array.from(read(file).matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    ),
  );

test('links of all pages lead to files and headings', () => {
  const pattern = '{*.md,{docs,.github}/*.md,{packages,examples}/*/README.md}';
  const broken = globSync(pattern, { cwd: PROJECT }).flatMap((file) =>
    [...read(file).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)]*))?\)/g)]
      .filter(([, to = '', anchor]) => {
        const target = to === '' ? file : join(dirname(file), to);
        if (!existsSync(join(PROJECT, target))) return true;
        return anchor !== undefined && !anchors(target).has(anchor);
      })
      .map(([link]) => `${file}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test('paths of the documentation exist', () => {
  const missing = OWN_PAGES.flatMap((file) => {
    const layout = (pages.get(file)?.blocks ?? [])
      .filter(({ language }) => language === '')
      .flatMap(({ code }) => code.split('\n').map((line) => line.split(' ')[0] ?? ''));
    const pattern = /`((?:\.github|docs|generated|packages|scripts|src|test)\/[\w./-]*)`/g;
    const spans = Array.from(read(file).matchAll(pattern), ([, to = '']) => to);
    return [...layout, ...spans].filter((to) => to !== '' && !existsSync(join(PROJECT, to)));
  });
  expect(missing).toEqual([]);
});
