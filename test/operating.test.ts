import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { Deployment } from 'kubernetes-models/apps/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Service } from 'kubernetes-models/v1';
import { parse, parseAllDocuments } from 'yaml';
import { SERVER_VARIABLES } from '../packages/spec-first-server/src/process/configuration.ts';
import { variables } from '../src/plants.ts';
import { endAll, launch, PROJECT } from './support/launch.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-operating-'));
afterEach(endAll);
afterAll(() => rmSync(folder, { recursive: true }));
const read = (name: string): string => readFileSync(join(PROJECT, 'docs/operating', name), 'utf8');

test('the service has each metric of the dashboard and of the alerts, as Prometheus wants metrics to be', async () => {
  const database = `sqlite:${folder}/plants.db`;
  const service = launch({ ACCESS_TOKENS: 'token', METRICS_PORT: '0', DATABASE_URL: database });
  const { metrics } = await service.line(({ msg }) => msg === 'listening');
  let text = '';
  while (!text.includes('http_requests_total')) text = await (await fetch(String(metrics))).text();
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]));

  const { panels } = JSON.parse(read('dashboard.json'));
  const { groups } = parse(read('alerts.yaml'));
  const asked: string[] = [
    ...panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr)),
    ...groups.flatMap(({ rules }: { rules: { expr: string }[] }) => rules.map(({ expr }) => expr)),
  ];
  const names = asked.flatMap((expr) => expr.match(/\b(?:http|store|nodejs|process|worker|log|service)_\w+/g) ?? []);
  expect(names.length).toBeGreaterThan(15);
  // PostgreSQL alone has connections, and several workers are replaced.
  const others = ['store_connections', 'store_connections_idle', 'worker_restarts_total'];
  const known = new Set([...types.keys(), ...others]);
  expect(names.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')).filter((name) => !known.has(name))).toEqual(
    [],
  );

  for (const [name, type] of types) {
    expect(text).toMatch(new RegExp(`^# HELP ${name} \\S`, 'm'));
    if (type === 'counter') expect(name).toMatch(/_total$/);
    else expect(name).not.toMatch(/_total$/);
    expect(name).not.toMatch(/_(?:ms|milliseconds|kb|kib|mb|minutes)(?:_|$)/);
  }
});

test('the manifests for Kubernetes fit the schemas of Kubernetes', () => {
  const kinds = { Deployment, Service, PodDisruptionBudget };
  for (const document of parseAllDocuments(read('kubernetes.yaml'))) {
    const manifest = document.toJS();
    new kinds[manifest.kind as keyof typeof kinds](manifest).validate();
    manifest.spec.selector = 'plants';
    expect(() => new kinds[manifest.kind as keyof typeof kinds](manifest).validate()).toThrow('selector');
  }
});

test('the manifests for Kubernetes name variables, ports and probes that the service has', () => {
  const manifests = parseAllDocuments(read('kubernetes.yaml')).map((document) => document.toJS());
  expect(manifests.map(({ kind }) => kind)).toEqual(['Deployment', 'Service', 'PodDisruptionBudget']);
  const [deployment, service, budget] = manifests;
  const pod = deployment.spec.template;
  expect(deployment.spec.selector.matchLabels).toEqual(pod.metadata.labels);
  expect(service.spec.selector).toEqual(pod.metadata.labels);
  expect(budget.spec.selector.matchLabels).toEqual(pod.metadata.labels);
  const [container] = pod.spec.containers;
  const known = Object.keys({ ...SERVER_VARIABLES, ...variables });
  const env = new Map<string, string>(container.env.map(({ name, value }: Record<string, string>) => [name, value]));
  expect([...env.keys()].filter((name) => !known.includes(name))).toEqual([]);
  const ports = new Map(
    container.ports.map(({ name, containerPort }: Record<string, unknown>) => [name, containerPort]),
  );
  expect(String(ports.get('metrics'))).toBe(env.get('METRICS_PORT'));
  expect(service.spec.ports[0].targetPort).toBe('http');
  expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
  expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
  expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Number(env.get('DRAIN_SECONDS')) + 20);
});
