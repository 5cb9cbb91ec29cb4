import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';

const PROJECT = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(PROJECT, file), 'utf8');

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Workflow {
  readonly permissions: object;
  readonly jobs: Readonly<
    Record<
      string,
      { readonly permissions?: Readonly<Record<string, string>>; steps: readonly Step[] }
    >
  >;
}

const workflows = globSync('.github/workflows/*.yml', { cwd: PROJECT });

test.each(workflows)(
  '%s pins each action by commit, and grants write permissions only to single jobs',
  (file) => {
    const { permissions, jobs }: Workflow = parse(read(file));
    expect(Object.values(permissions)).not.toContain('write');
    const actions = Object.values(jobs).flatMap(({ steps }) =>
      steps.flatMap(({ uses }) => uses ?? []),
    );
    for (const action of actions) expect(action).toMatch(/^[\w/-]+@[\da-f]{40}$/);
  },
);

test('the publishing job runs only npm, on files that another job has tested', () => {
  const { jobs }: Workflow = parse(read('.github/workflows/release.yml'));
  const { pack, publish } = jobs;
  expect(pack?.permissions).toEqual({ contents: 'read' });
  expect(publish?.permissions).toEqual({ 'id-token': 'write' });
  const commands = publish?.steps.flatMap(({ run }) => run ?? []).join('\n');
  expect(commands?.match(/\bnp[mx]\b.*/g)).toEqual([
    expect.stringMatching(/^npx --yes npm@\d+\.\d+\.\d+ publish "\.\/\$tarball" --provenance/),
  ]);
  const order = pack?.steps.flatMap(({ run }) => run ?? []).slice(1);
  expect(order).toEqual(['npm ci', 'npm test', 'npm run test:registry', 'npm run pack -- build']);
});

test('each base image is pinned by its digest', () => {
  const bases = read('Dockerfile').match(/^FROM .*$/gm);
  expect(bases?.length).toBeGreaterThan(0);
  for (const base of bases ?? []) expect(base).toMatch(/@sha256:[\da-f]{64}/);
});
