import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  globSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import dockerfileUtils from 'dockerfile-utils';
import { loadDocument } from 'openapi-document';
import { parse } from 'yaml';
import { SERVER_VARIABLES } from '../packages/spec-first-server/src/serve/configuration.ts';
import { variables } from '../src/plants.ts';
import { asRoot, build, instructionsOf, isSent, NODE_USER } from './support/dockerfile.ts';
import { endAll, type Launched, launch, PROJECT, post } from './support/launch.ts';
import { removeFolder } from './support/remove.ts';

const read = (name: string): string => readFileSync(resolve(PROJECT, name), 'utf8');

const { scripts, devDependencies } = JSON.parse(read('package.json'));
const START = `node_modules/.bin/${scripts.start}`;

const dockerfile = read('Dockerfile');
const instructions = instructionsOf(dockerfile);
const textOf = (name: string): string[] =>
  instructions.filter((each) => each.name === name).map(({ text }) => text);
const environment = Object.fromEntries(
  textOf('ENV').flatMap((text) =>
    [...text.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  ),
);

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => lstatSync(join(folder, path)).blocks * 512)
    .reduce((sum, size) => sum + size, 0);

describe('the image', () => {
  test('has a valid Dockerfile', () => {
    expect(dockerfileUtils.validate(dockerfile)).toEqual([]);
    expect(dockerfileUtils.validate(`${dockerfile}EXPOSE port\n`)).toHaveLength(1);
  });

  test('has the pinned Node on a slim base, and starts one process, which gets the signals', () => {
    const major = /\d+/.exec(devDependencies.node)?.[0];
    for (const base of textOf('FROM')) expect(base).toMatch(new RegExp(`^node:${major}-slim\\b`));
    expect(textOf('CMD').map((text) => JSON.parse(text))).toEqual([[START]]);
    expect(textOf('ENTRYPOINT')).toEqual([]);
  });

  test('runs without privileges, in production, with its plants on a volume', () => {
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

  test('contains no secret, no database and no installed dependency', () => {
    for (const path of [
      'src/main.ts',
      'scripts/copy-plants.ts',
      'openapi.yaml',
      'package-lock.json',
    ])
      expect(isSent(PROJECT, path)).toBe(true);
    for (const path of [
      '.env',
      '.git/config',
      'data/plants.db',
      'node_modules/pino/pino.js',
      'scripts/dev.ts',
      'test/image.test.ts',
    ]) {
      expect(isSent(PROJECT, path)).toBe(false);
    }
  });

  describe('built by the steps of the Dockerfile in an empty folder', () => {
    const folder = mkdtempSync(join(tmpdir(), 'plants-image-'));
    // The other user may have no access to the parent folders of this checkout.
    const node = asRoot ? join(folder, 'node') : process.execPath;
    let root = '';
    let app = '';
    beforeAll(() => {
      chmodSync(folder, 0o755);
      if (asRoot) copyFileSync(process.execPath, node, constants.COPYFILE_FICLONE);
      root = build(PROJECT, folder);
      app = join(root, 'app');
      if (!asRoot) spawnSync('chmod', ['-R', 'a-w', app]);
    }, 600_000);
    afterEach(endAll);
    afterAll(() => {
      removeFolder(folder);
    });

    function run(
      env: Record<string, string>,
      program = { node: join(app, START), main: 'src/main.ts' },
    ): Launched {
      const { DATABASE_URL = '', ...rest } = environment;
      return launch(
        {
          ...rest,
          HOST: '127.0.0.1',
          PORT: '0',
          DATABASE_URL: DATABASE_URL.replace('/data', join(root, 'data')),
          PATH: `${dirname(node)}:${process.env.PATH}`,
          ...env,
        },
        {
          cwd: app,
          ...program,
          ...(asRoot && { uid: NODE_USER, gid: NODE_USER }),
        },
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
    ])('with PORT=%s, the health check connects to port %s', (port, connected) => {
      const { stderr } = health(port, { NODE_DEBUG: 'net' });
      expect(
        [...stderr.matchAll(/attempting to connect to ([\d.:]+)/g)].map(([, to]) => to),
      ).toEqual([`127.0.0.1:${connected}`]);
    });

    test('has less than 50 MiB of dependencies, and no development dependencies', () => {
      const size = sizeOf(join(app, 'node_modules')) - sizeOf(join(app, 'node_modules/.cache'));
      expect(size / 1024 ** 2).toBeLessThan(50);
      for (const name of ['node', 'typescript', 'spec-first']) {
        expect(existsSync(join(app, 'node_modules', name))).toBe(false);
      }
    });

    test('contains each file of the document', async () => {
      const { files = [] } = await loadDocument(join(PROJECT, 'openapi.yaml'));
      for (const file of ['openapi.yaml', ...files]) {
        expect(readFileSync(resolve(app, relative(PROJECT, resolve(PROJECT, file))), 'utf8')).toBe(
          read(file),
        );
      }
    });

    test('contains a compile cache', () => {
      const compiled = globSync('node_modules/.cache/compile/v*/*', { cwd: app });
      expect(compiled.length).toBeGreaterThan(300);
    });

    test('does not start without credentials', async () => {
      const service = run({});
      expect(await service.exit).toBe(1);
      expect(service.stderr()).toContain(
        'ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWKS_URL must be set',
      );
    });

    test('serves with express-openapi-validator, passes its health check, and stops on a signal', async () => {
      const eov = { node, main: 'examples/eov/main.ts' };
      const service = run({ ACCESS_TOKENS: 'token', DATABASE_URL: 'sqlite::memory:' }, eov);
      const url = await service.url;
      expect(await post(url, { id: 1, name: 'Fern' })).toBe(200);
      expect(health(new URL(url).port)).toMatchObject({ status: 0, stderr: '' });
      service.child.kill('SIGTERM');
      expect(await service.exit).toBe(0);
    });

    test('serves, passes its health check, writes only to its volume, stops on a signal, and copies plants', async () => {
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
        stdout: expect.stringContaining('FROM holds 1 plants; 1 of them are in TO'),
      });
    });
  });
});

describe('compose.yaml', () => {
  const { services, volumes } = parse(read('compose.yaml'), { strict: true, uniqueKeys: true });

  test('sets only variables that the service reads', () => {
    const variableNames = new Set([
      ...Object.keys({ ...SERVER_VARIABLES, ...variables }),
      'PGPASSWORD',
    ]);
    const names = Object.keys(services.service.environment);
    expect(names).toContain('DATABASE_URL');
    expect(names.filter((name) => !variableNames.has(name))).toEqual([]);
  });

  test('requires only ACCESS_TOKENS, with an error that names it', () => {
    const substitutions = read('compose.yaml').matchAll(/\$\{(\w+)(:[-?])?/g);
    for (const [, name, operator] of substitutions)
      expect([name, operator]).toEqual([name, name === 'ACCESS_TOKENS' ? ':?' : ':-']);
    expect(services.service.environment.ACCESS_TOKENS).toMatch(
      /^\$\{ACCESS_TOKENS:\?set it in the file \.env to .+\}$/,
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
    expect(database.volumes.map((mount: string) => mount.split(':')[0])).toEqual(
      Object.keys(volumes),
    );
  });

  test('removes privileges that the service does not need', () => {
    expect(services.service).toMatchObject({
      build: '.',
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(services.service.ports).toEqual([
      expect.stringMatching(/^127\.0\.0\.1:\$\{PORT:-3000\}:3000$/),
    ]);
  });
});
