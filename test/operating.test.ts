import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { Deployment } from 'kubernetes-models/apps/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Service } from 'kubernetes-models/v1';
import { eventually } from 'test-support/eventually';
import { parse, parseAllDocuments } from 'yaml';
import { SERVER_VARIABLES } from '../packages/spec-first-server/src/serve/configuration.ts';
import { FLUSH_LIMIT } from '../packages/spec-first-server/src/serve/log.ts';
import { STOP_LIMIT } from '../packages/spec-first-server/src/serve/stop.ts';
import { variables } from '../src/plants.ts';
import { endAll, launch, PROJECT, post } from './support/launch.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-operating-'));
afterEach(endAll);
afterAll(() => rmSync(folder, { recursive: true }));
const read = (name: string): string => readFileSync(join(PROJECT, 'docs/operating', name), 'utf8');

test('the service has the metrics of the dashboard, of the alerts and of the page, and notifies systemd', async () => {
  const messages = join(folder, 'messages');
  const bin = mkdtempSync(join(folder, 'bin-'));
  const script = `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> ${messages}\n`;
  writeFileSync(join(bin, 'systemd-notify'), script, { mode: 0o755 });
  const database = `sqlite:${folder}/plants.db`;
  const systemd = { NOTIFY_SOCKET: '/run/n', WATCHDOG_USEC: '200000', PATH: bin };
  const env = { ACCESS_TOKENS: 'token', METRICS_PORT: '0', DATABASE_URL: database, ...systemd };
  const service = launch(env);
  const { metrics } = await service.line(({ msg }) => msg === 'listening');
  let text = '';
  while (!text.includes('http_requests_total')) text = await (await fetch(String(metrics))).text();
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );

  const { panels } = JSON.parse(read('dashboard.json'));
  const { groups } = parse(read('alerts.yaml'));
  const expressions: string[] = [
    ...panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
      targets.map(({ expr }) => expr),
    ),
    ...groups.flatMap(({ rules }: { rules: { expr: string }[] }) => rules.map(({ expr }) => expr)),
  ];
  const page = readFileSync(join(PROJECT, 'docs/operating.md'), 'utf8');
  const names = [...expressions, page].flatMap(
    (expr) => expr.match(/\b(?:http|store|nodejs|process|worker|log|service)_\w+/g) ?? [],
  );
  expect(names.length).toBeGreaterThan(15);
  // Only PostgreSQL has connections.
  const postgresMetrics = ['store_connections', 'store_connections_idle'];
  const metricNames = new Set([...types.keys(), ...postgresMetrics]);
  expect(
    names
      .map((name) => name.replace(/_(?:bucket|sum|count)$/, ''))
      .filter((name) => !metricNames.has(name)),
  ).toEqual([]);

  const count = (text: string) => readFileSync(messages, 'utf8').split(text).length - 1;
  await eventually(() => expect(count(`/run/n --ready --pid=${service.pid}\n`)).toBe(1));
  await eventually(() => expect(count('WATCHDOG=1')).toBeGreaterThan(1));
  // A new database is a warning.
  expect(service.lines().map(({ level }) => level)).toEqual([40, 30]);
});

test('the manifests are valid for Kubernetes', () => {
  const kinds = { Deployment, Service, PodDisruptionBudget };
  for (const document of parseAllDocuments(read('kubernetes.yaml'))) {
    const manifest = document.toJS();
    new kinds[manifest.kind as keyof typeof kinds](manifest).validate();
    manifest.spec.selector = 'plants';
    expect(() => new kinds[manifest.kind as keyof typeof kinds](manifest).validate()).toThrow(
      'selector',
    );
  }
});

test('the manifests for Kubernetes have variables, ports and probes of the service', () => {
  const manifests = parseAllDocuments(read('kubernetes.yaml')).map((document) => document.toJS());
  expect(manifests.map(({ kind }) => kind)).toEqual([
    'Deployment',
    'Service',
    'PodDisruptionBudget',
  ]);
  const [deployment, service, budget] = manifests;
  const pod = deployment.spec.template;
  expect(deployment.spec.selector.matchLabels).toEqual(pod.metadata.labels);
  expect(service.spec.selector).toEqual(pod.metadata.labels);
  expect(budget.spec.selector.matchLabels).toEqual(pod.metadata.labels);
  const [container] = pod.spec.containers;
  const variableNames = Object.keys({ ...SERVER_VARIABLES, ...variables });
  const env = new Map<string, string>(
    container.env.map(({ name, value }: Record<string, string>) => [name, value]),
  );
  expect([...env.keys()].filter((name) => !variableNames.includes(name))).toEqual([]);
  const ports = new Map(
    container.ports.map(({ name, containerPort }: Record<string, unknown>) => [
      name,
      containerPort,
    ]),
  );
  expect(String(ports.get('metrics'))).toBe(env.get('METRICS_PORT'));
  expect(service.spec.ports[0].targetPort).toBe('http');
  expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
  expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
  expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
    Number(env.get('DRAIN_SECONDS')) + (STOP_LIMIT + FLUSH_LIMIT) / 1000,
  );
});

const has = (command: string): boolean => spawnSync(command, ['--version']).status === 0;

(has('promtool') ? test : test.skip)('the tests of the alerts pass (needs promtool)', () => {
  const cwd = join(PROJECT, 'docs/operating');
  const args = ['test', 'rules', 'alerts.test.yaml'];
  const { stdout, stderr } = spawnSync('promtool', args, { cwd, encoding: 'utf8' });
  expect(stdout + stderr).toContain('SUCCESS');
});

const isRoot = process.getuid?.() === 0 && has('setpriv');

(isRoot ? test : test.skip)(
  'the service starts with the user, the groups and the file modes of the manifest (needs root)',
  async () => {
    const [{ spec }] = parseAllDocuments(read('kubernetes.yaml')).map((one) => one.toJS());
    const { securityContext, containers, volumes } = spec.template.spec;
    const { runAsUser, runAsGroup, fsGroup } = securityContext;
    const mode = volumes.find(({ secret }: { secret?: object }) => secret).secret.defaultMode;
    const secrets = { 'access-tokens': 'token\n', 'database-url': 'sqlite::memory:\n' };
    chmodSync(folder, 0o755);
    for (const [name, text] of Object.entries(secrets)) {
      writeFileSync(join(folder, name), text);
      chownSync(join(folder, name), 0, fsGroup);
      chmodSync(join(folder, name), mode);
    }
    const env = Object.fromEntries(
      containers[0].env.map(({ name, value }: Record<string, string>) => [
        name,
        value?.replace('/secrets/', `${folder}/`),
      ]),
    );
    const ids = [`--reuid=${runAsUser}`, `--regid=${runAsGroup}`, `--groups=${fsGroup}`];
    const service = launch(
      { ...env, METRICS_PORT: '0', DRAIN_SECONDS: '0' },
      {
        node: 'setpriv',
        flags: [...ids, '--no-new-privs', '--bounding-set=-all', process.execPath],
      },
    );
    expect(await post(await service.url, { id: 1, name: 'Fern' })).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
  },
);

const leastStopTime = STOP_LIMIT + FLUSH_LIMIT;

test('PM2 starts the service from any folder, and waits long enough at a stop', async () => {
  const file = join(PROJECT, 'docs/operating/ecosystem.config.cjs');
  const [app] = createRequire(import.meta.url)(file).apps;
  // The daemon of PM2 starts Node in its own folder, then changes to that of the service.
  const main = join(folder, 'container.mjs');
  const script = JSON.stringify(join(PROJECT, app.script));
  writeFileSync(main, `process.chdir(${JSON.stringify(PROJECT)});\nawait import(${script});\n`);
  const { node_args: nodeArgs = '' } = app;
  const flags = nodeArgs.split(' ').filter(Boolean);
  const service = launch({ ACCESS_TOKENS: 'token' }, { cwd: folder, flags, main });
  expect(await post(await service.url, { id: 1, name: 'Fern' })).toBe(200);
  service.child.kill('SIGINT');
  expect(await service.exit).toBe(0);
  expect(app.kill_timeout).toBeGreaterThanOrEqual(leastStopTime);
  // A reload starts a process while the former one still uses the port.
  expect(app.env).not.toHaveProperty('METRICS_PORT');
});

describe('the unit of systemd', () => {
  const unit = read('plants@.service');

  test('sets only variables of the service', () => {
    const lines = unit.match(/(?<=^Environment=).*/gm)?.join(' ') ?? '';
    const names = Array.from(lines.matchAll(/(\w+)=/g), ([, name]) => name);
    const variableNames = [
      'NODE_COMPILE_CACHE',
      'NODE_ENV',
      'PATH',
      ...Object.keys({ ...SERVER_VARIABLES, ...variables }),
    ];
    expect(names.filter((name) => !variableNames.includes(String(name)))).toEqual([]);
    // systemctl reload sends SIGHUP, which reads this file again.
    expect(names).toContain('ACCESS_TOKENS_FILE');
  });

  (has('systemd-analyze') ? test : test.skip)('is valid (needs systemd-analyze)', () => {
    const copy = join(folder, 'plants@.service');
    // This machine has no such user and program.
    writeFileSync(copy, unit.replace(/^User=.*$/m, '').replaceAll('/opt/plants', PROJECT));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', copy], { encoding: 'utf8' });
    expect({ status, stderr: stderr.match(/plants@.*/g) ?? [] }).toEqual({
      status: 0,
      stderr: [],
    });
  });

  test('needs the program systemd-notify: without it, the service logs a warning', async () => {
    const env = { ACCESS_TOKENS: 'token', NOTIFY_SOCKET: join(folder, 'none'), PATH: folder };
    const service = launch(env);
    const warning = await service.line(({ level }) => level === 40);
    expect(warning.msg).toBe('systemd cannot be notified');
  });
});
