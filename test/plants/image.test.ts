import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import dockerfileUtils from 'dockerfile-utils';
import { parse } from 'yaml';
import { SERVER_VARIABLES } from '../../packages/spec-first-server/src/process/configuration.ts';
import { variables } from '../../src/plants.ts';
import { endAll, type Launched, launch, PROJECT, post } from '../support/launch.ts';

const read = (name: string): string => readFileSync(join(PROJECT, name), 'utf8');

/** One instruction of a Dockerfile, its continued lines joined and its flags taken out. */
interface Instruction {
  readonly name: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly text: string;
}

function instructionsOf(dockerfile: string): Instruction[] {
  const lines = dockerfile
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [, name = '', flags = '', text = ''] = /^(\w+)\s+((?:--\S+\s+)*)(.*)$/.exec(line) ?? [];
    const pairs = [...flags.matchAll(/--([\w-]+)=(\S+)/g)].map(([, key = '', value = '']) => [key, value]);
    return { name: name.toUpperCase(), flags: Object.fromEntries(pairs), text: text.trim() };
  });
}

const dockerfile = read('Dockerfile');
const instructions = instructionsOf(dockerfile);
const textOf = (name: string): string[] => instructions.filter((each) => each.name === name).map(({ text }) => text);
const environment = Object.fromEntries(
  textOf('ENV').flatMap((text) => [...text.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value])),
);

/** Whether `.dockerignore` lets a path of the project into the build: the last pattern that fits decides. */
function isSent(path: string): boolean {
  const patterns = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const fits = patterns.filter((pattern) => {
    const plain = pattern.replace(/^!/, '');
    return plain === '*' || path === plain || path.startsWith(`${plain}/`);
  });
  return fits.at(-1)?.startsWith('!') ?? true;
}

/** Node's own image gives its user this id. As root the service is run as that user, else as the user of the tests. */
const asRoot = process.getuid?.() === 0;
const NODE_USER = 1000;

/**
 * Follows the Dockerfile's steps in a folder, which stands for the root folders of its stages: `/app` of the last one is
 * `last/app`.
 */
function build(folder: string): string {
  const stages = new Map<string, string>();
  let root = '';
  let at = '/';
  for (const { name, flags, text } of instructions) {
    const place = (path: string) => join(root, path.startsWith('/') ? '' : at, path);
    if (name === 'FROM') {
      const stage = /\bAS (\S+)$/i.exec(text)?.[1] ?? 'last';
      root = join(folder, stage);
      stages.set(stage, root);
      at = '/';
      mkdirSync(root, { recursive: true });
    } else if (name === 'WORKDIR') {
      at = text;
      mkdirSync(place('.'), { recursive: true });
    } else if (name === 'COPY') {
      const paths = text.split(/\s+/);
      const target = paths.pop() ?? '';
      const to = place(target);
      const from = flags.from === undefined ? PROJECT : (stages.get(flags.from) ?? '');
      for (const path of paths) {
        if (flags.from === undefined && !isSent(path)) throw new Error(`.dockerignore keeps ${path} out`);
        const isFolder = lstatSync(join(from, path)).isDirectory();
        cpSync(join(from, path), isFolder || !target.endsWith('/') ? to : join(to, basename(path)), {
          recursive: true,
          verbatimSymlinks: true,
        });
      }
    } else if (name === 'RUN') {
      const owner = asRoot ? [NODE_USER, NODE_USER] : [process.getuid?.(), process.getgid?.()];
      const command = text
        .replaceAll('-o node -g node', `-o ${owner[0]} -g ${owner[1]}`)
        .replace(/(?<=\s)\/\w+/g, (path) => join(root, path));
      const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
      const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
        cwd: place('.'),
        env: { ...process.env, PATH },
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(`RUN ${text} ended with ${status}:\n${stdout}${stderr}`);
    }
  }
  return root;
}

/** What a folder takes on disk, in bytes. */
const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => lstatSync(join(folder, path)).blocks * 512)
    .reduce((sum, size) => sum + size, 0);

describe('the image', () => {
  test('is described without a fault', () => {
    expect(dockerfileUtils.validate(dockerfile)).toEqual([]);
    expect(dockerfileUtils.validate(`${dockerfile}EXPOSE port\n`)).toHaveLength(1);
  });

  test('has a slim base of the Node that the project pins, and starts one process that gets the signals', () => {
    const { node } = JSON.parse(read('package.json')).devDependencies;
    const major = /\d+/.exec(node)?.[0];
    for (const base of textOf('FROM')) expect(base).toMatch(new RegExp(`^node:${major}-slim\\b`));
    expect(textOf('CMD').map((text) => JSON.parse(text))).toEqual([['node', 'src/main.ts']]);
    expect(textOf('ENTRYPOINT')).toEqual([]);
  });

  test('runs as a user without rights, in production, with its plants on a volume', () => {
    expect(textOf('USER')).toEqual(['node']);
    expect(textOf('VOLUME')).toEqual(['/data']);
    expect(environment).toEqual({
      NODE_ENV: 'production',
      HOST: '0.0.0.0',
      PORT: '3000',
      DATABASE_URL: 'sqlite:/data/plants.db',
    });
    expect(textOf('EXPOSE')).toEqual([environment.PORT]);
  });

  test('is built from what it needs: no secret, no database, no dependency of this machine', () => {
    for (const path of ['src/main.ts', 'scripts/copy-plants.ts', 'openapi.yaml', 'package-lock.json'])
      expect(isSent(path)).toBe(true);
    for (const path of [
      '.env',
      '.git/config',
      'data/plants.db',
      'node_modules/pino/pino.js',
      'scripts/dev.ts',
      'test/image.test.ts',
    ]) {
      expect(isSent(path)).toBe(false);
    }
  });

  describe('built by its own steps in an empty folder', () => {
    const folder = mkdtempSync(join(tmpdir(), 'plants-image-'));
    // The other user may not be let into the folders above this checkout.
    const node = asRoot ? join(folder, 'node') : process.execPath;
    let root = '';
    let app = '';
    beforeAll(() => {
      chmodSync(folder, 0o755);
      if (asRoot) copyFileSync(process.execPath, node, constants.COPYFILE_FICLONE);
      root = build(folder);
      app = join(root, 'app');
      if (!asRoot) spawnSync('chmod', ['-R', 'a-w', app]);
    }, 120_000);
    afterEach(endAll);
    afterAll(() => {
      if (!asRoot) spawnSync('chmod', ['-R', 'u+w', folder]);
      rmSync(folder, { recursive: true, force: true });
    });

    function run(env: Record<string, string>): Launched {
      const { DATABASE_URL = '', ...rest } = environment;
      return launch(
        {
          ...rest,
          HOST: '127.0.0.1',
          PORT: '0',
          DATABASE_URL: DATABASE_URL.replace('/data', join(root, 'data')),
          ...env,
        },
        { cwd: app, main: join(app, 'src/main.ts'), node, ...(asRoot && { uid: NODE_USER, gid: NODE_USER }) },
      );
    }

    const health = (port: string, env: Record<string, string> = {}) => {
      const [check = ''] = textOf('HEALTHCHECK');
      const [command, ...args]: string[] = JSON.parse(check.replace(/^CMD\s+/, ''));
      expect(command).toBe('node');
      return spawnSync(process.execPath, args, { env: { PORT: port, ...env }, encoding: 'utf8' });
    };

    test.each([
      ['6000', '6000'],
      ['10080', '10080'],
      ['', '3000'],
    ])('asks with PORT=%s at port %s whether it is healthy', (port, asked) => {
      const { stderr } = health(port, { NODE_DEBUG: 'net' });
      expect([...stderr.matchAll(/attempting to connect to ([\d.:]+)/g)].map(([, to]) => to)).toEqual([
        `127.0.0.1:${asked}`,
      ]);
    });

    test('holds dependencies of less than 40 MiB, and no Node of its own', () => {
      expect(sizeOf(join(app, 'node_modules')) / 1024 ** 2).toBeLessThan(40);
      expect(existsSync(join(app, 'node_modules/node'))).toBe(false);
      expect(existsSync(join(app, 'node_modules/typescript'))).toBe(false);
    });

    test('refuses to start without credentials', async () => {
      const service = run({});
      expect(await service.exit).toBe(1);
      expect(service.stderr()).toContain('ACCESS_TOKENS is not set');
    });

    test('serves, is found healthy, writes to its volume alone, stops when it is told, and copies its plants', async () => {
      const before = readdirSync(app, { recursive: true });
      const service = run({ ACCESS_TOKENS: 'token' });
      const url = await service.url;
      expect(await post(url, { id: 1, name: 'Fern' })).toBe(200);
      expect((await fetch(`${url}/docs`)).status).toBe(200);
      expect(health(new URL(url).port)).toMatchObject({ status: 0, stderr: '' });
      service.child.kill('SIGTERM');
      expect(await service.exit).toBe(0);
      expect(health(new URL(url).port)).toMatchObject({ status: 1, stderr: '' });
      expect(service.stderr()).toBe('');
      expect(readdirSync(join(root, 'data'))).toEqual(['plants.db']);
      expect(readdirSync(app, { recursive: true })).toEqual(before);

      const data = join(root, 'data');
      const { status, stdout, stderr } = spawnSync(
        node,
        ['scripts/copy-plants.ts', `sqlite:${data}/plants.db`, `sqlite:${data}/copy.db`],
        { cwd: app, encoding: 'utf8', ...(asRoot && { uid: NODE_USER, gid: NODE_USER }) },
      );
      expect({ status, stdout, stderr }).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('1 plants added'),
      });
    });
  });
});

describe('compose.yaml', () => {
  const { services, volumes } = parse(read('compose.yaml'), { strict: true, uniqueKeys: true });

  test('gives the service nothing but variables that it knows', () => {
    const known = new Set([...Object.keys({ ...SERVER_VARIABLES, ...variables }), 'PGPASSWORD']);
    const given = Object.keys(services.service.environment);
    expect(given).toContain('DATABASE_URL');
    expect(given.filter((name) => !known.has(name))).toEqual([]);
  });

  test('asks for a token in words, and needs nothing else', () => {
    const asked = [...read('compose.yaml').matchAll(/\$\{(\w+)(:[-?])?/g)].map(([, name, how]) => [name, how]);
    for (const [name, how] of asked) expect([name, how]).toEqual([name, name === 'ACCESS_TOKENS' ? ':?' : ':-']);
    expect(services.service.environment.ACCESS_TOKENS).toMatch(
      /^\$\{ACCESS_TOKENS:\?must be set, in the file \.env, to .+\}$/,
    );
  });

  test('starts the service once the database answers, with the same name and password for both', () => {
    const { service, database } = services;
    expect(service.depends_on).toEqual({ database: { condition: 'service_healthy' } });
    expect(database.healthcheck.test[0]).toBe('CMD');
    const url = new URL(service.environment.DATABASE_URL);
    expect([url.hostname, url.username, url.pathname]).toEqual([
      'database',
      database.environment.POSTGRES_USER,
      '/plants',
    ]);
    expect(url.pathname).toBe(`/${database.environment.POSTGRES_DB}`);
    expect(service.environment.PGPASSWORD).toBe(database.environment.POSTGRES_PASSWORD);
    expect(database.ports).toBeUndefined();
    expect(database.volumes.map((mount: string) => mount.split(':')[0])).toEqual(Object.keys(volumes));
  });

  test('takes from the service what it does not need', () => {
    expect(services.service).toMatchObject({
      build: '.',
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(services.service.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:\$\{PORT:-3000\}:3000$/)]);
  });
});
