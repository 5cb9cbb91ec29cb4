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

test('each base image is pinned by its digest', () => {
  const bases = read('Dockerfile').match(/^FROM .*$/gm);
  expect(bases?.length).toBeGreaterThan(0);
  for (const base of bases ?? []) expect(base).toMatch(/@sha256:[\da-f]{64}/);
});

test('each package of the lock file has a digest', () => {
  const { packages }: { packages: Record<string, { link?: true; integrity?: string }> } =
    JSON.parse(read('package-lock.json'));
  const unpinned = Object.entries(packages)
    .filter(
      ([path, { link, integrity }]) =>
        path.includes('node_modules/') && !link && integrity === undefined,
    )
    .map(([path]) => path);
  expect(unpinned).toEqual([]);
});
