import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { Job } from 'kubernetes-types/batch/v1.js';
import type { PodSpec, Service } from 'kubernetes-types/core/v1.js';
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.js';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.js';
import { apiRoutes } from '../../src/http/requestTarget.ts';
import { drainMs } from '../../src/service/service.ts';
import { anySecretKey, configOf, readOnlyYaml, root } from './support.ts';

const folder = 'deploy/kubernetes';
const readManifest = <T>(file: string) => readOnlyYaml<T>(`${folder}/${file}.yaml`);

/** The one container, which every test is about. */
function containerOf(pod: PodSpec | undefined) {
  expect(pod?.containers).toHaveLength(1);
  const [container] = pod?.containers ?? [];
  if (!pod || !container) throw new Error('There is no container.');
  return { pod, container };
}

/** What the container gets, with each secret as it should be. */
function environmentOf({ env = [] }: ReturnType<typeof containerOf>['container']): Record<string, string> {
  const secrets: Record<string, string> = {
    'graph-query-service AUTH_DATABASE_URL': 'postgres://graph_authenticator:secret@db/graph',
    'graph-query-service OAUTH_DATABASE_URL': 'postgres://graph_oauth_authenticator:secret@db/graph',
    'graph-query-service REPLICA_DATABASE_URL': 'postgres://graph_authenticator:secret@replica/graph',
    'graph-query-service SECRET_KEY': anySecretKey,
    'graph-query-service-owner DATABASE_URL': 'postgres://graph_owner:secret@db/graph',
  };
  return Object.fromEntries(
    env.map(({ name, value, valueFrom }) => {
      const { name: secret, key } = valueFrom?.secretKeyRef ?? { name: '', key: '' };
      return [name, value ?? secrets[`${secret} ${key}`] ?? `no such secret: ${secret} ${key}`];
    }),
  );
}

test('every manifest is one that Kubernetes knows, without a field that it does not', async () => {
  const types = {
    'service-account': ['ServiceAccount', 'core/v1'],
    deployment: ['Deployment', 'apps/v1'],
    service: ['Service', 'core/v1'],
    'disruption-budget': ['PodDisruptionBudget', 'policy/v1'],
    'network-policy': ['NetworkPolicy', 'networking/v1'],
    migrate: ['Job', 'batch/v1'],
  } as const;
  const files = (await readdir(join(root, folder))).map((file) => file.replace('.yaml', ''));
  expect([...Object.keys(types), 'kustomization'].toSorted()).toEqual(files.toSorted());

  const place = await mkdtemp(join(tmpdir(), 'manifests-'));
  await symlink(join(root, 'node_modules'), join(place, 'node_modules'));
  // TypeScript knows the types of all fields, and of an object that is written down, whether it has others.
  const check = async (change: (manifest: unknown) => unknown) => {
    const lines = await Promise.all(
      Object.entries(types).map(async ([file, [kind, group]], index) => {
        const manifest = JSON.stringify(change(await readManifest(file)));
        return `import type { ${kind} } from 'kubernetes-types/${group}.js';\nexport const manifest${index}: ${kind} = ${manifest};\n`;
      }),
    );
    await writeFile(join(place, 'manifests.ts'), lines.join(''));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--ignoreConfig', 'manifests.ts'];
    return promisify(execFile)(process.execPath, [tsc, ...flags], { cwd: place }).then(
      () => '',
      ({ stdout }) => String(stdout),
    );
  };

  expect(await check((manifest) => manifest)).toBe('');
  // It would find one.
  expect(await check((manifest) => ({ ...(manifest as object), specification: {} }))).toContain('specification');
  await rm(place, { recursive: true });
});

test('everything is applied together but the migrations, which come before', async () => {
  const { resources } = await readOnlyYaml<{ resources: string[] }>(`${folder}/kustomization.yaml`);

  const files = await readdir(join(root, folder));
  expect([...resources, 'kustomization.yaml', 'migrate.yaml'].toSorted()).toEqual(files.toSorted());
});

test('the service and the migrations are started with what they need, and nothing they do not know', async () => {
  const deployment = await readManifest<Deployment>('deployment');
  const job = await readManifest<Job>('migrate');
  const server = containerOf(deployment.spec?.template.spec);
  const migration = containerOf(job.spec?.template.spec);

  const config = configOf(environmentOf(server.container), 'serve');
  expect(config).toMatchObject({ host: '0.0.0.0', explorers: false });
  // The server never gets the owner's URL.
  expect(config.database).toMatchObject({ kind: 'own', ownerUrl: undefined });
  const optional = server.container.env?.filter(({ valueFrom }) => valueFrom?.secretKeyRef?.optional);
  expect(optional?.map(({ name }) => name)).toEqual(['OAUTH_DATABASE_URL', 'REPLICA_DATABASE_URL']);
  expect(configOf(environmentOf(migration.container), 'migrate').database).toMatchObject({
    ownerUrl: expect.any(String),
  });
  expect(migration.container.args).toEqual(['migrate']);
  expect([server.container.args, server.container.command]).toEqual([undefined, undefined]);
});

test('the ports are those of the program, and the public service has no metrics', async () => {
  const deployment = await readManifest<Deployment>('deployment');
  const { container } = containerOf(deployment.spec?.template.spec);
  const { port, metricsPort } = configOf(environmentOf(container), 'serve');
  const { spec } = await readManifest<Service>('service');

  expect(container.ports).toEqual([
    { name: 'http', containerPort: port },
    { name: 'metrics', containerPort: metricsPort },
  ]);
  expect(spec?.ports?.map(({ targetPort }) => targetPort)).toEqual(['http']);
  expect(deployment.spec?.template.metadata?.annotations).toEqual({
    'prometheus.io/scrape': 'true',
    'prometheus.io/port': String(metricsPort),
    'prometheus.io/path': '/metrics',
  });
});

test('the probes ask what is there, and an outage of the database restarts nothing', async () => {
  const deployment = await readManifest<Deployment>('deployment');
  const { container } = containerOf(deployment.spec?.template.spec);
  const pathOf = (probe: 'startupProbe' | 'livenessProbe' | 'readinessProbe') => container[probe]?.httpGet?.path ?? '';

  expect([pathOf('startupProbe'), pathOf('livenessProbe'), pathOf('readinessProbe')]).toEqual([
    '/healthz',
    '/healthz',
    '/readyz',
  ]);
  expect(apiRoutes).toEqual(expect.arrayContaining(['/healthz', '/readyz']));
  // It answers within 3 s.
  expect(container.readinessProbe?.timeoutSeconds).toBeGreaterThan(3);
});

test('a pod that leaves finishes its work before it is killed', async () => {
  const deployment = await readManifest<Deployment>('deployment');
  const { pod, container } = containerOf(deployment.spec?.template.spec);

  const [sleep, seconds] = container.lifecycle?.preStop?.exec?.command ?? [];
  expect(sleep).toBe('sleep');
  const neededSeconds = Number(seconds) + drainMs / 1000;
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(neededSeconds + 5);
  expect(deployment.spec?.strategy?.rollingUpdate?.maxUnavailable).toBe(0);
  expect(deployment.spec?.replicas).toBeGreaterThan(1);
});

test.each(['deployment', 'migrate'])('%s runs as nobody in particular and writes nowhere', async (file) => {
  const manifest = await readManifest<Deployment | Job>(file);
  const { pod, container } = containerOf(manifest.spec?.template.spec);

  expect(pod.securityContext).toEqual({
    runAsNonRoot: true,
    runAsUser: 1000,
    runAsGroup: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(pod.automountServiceAccountToken).toBe(false);
});

test('every selector means the pods of the deployment', async () => {
  const deployment = await readManifest<Deployment>('deployment');
  const budget = await readManifest<PodDisruptionBudget>('disruption-budget');
  const policy = await readManifest<NetworkPolicy>('network-policy');
  const service = await readManifest<Service>('service');
  const job = await readManifest<Job>('migrate');

  const labels = deployment.spec?.template.metadata?.labels;
  expect(labels).toEqual({ app: 'graph-query-service' });
  expect(deployment.spec?.selector.matchLabels).toEqual(labels);
  expect(deployment.spec?.template.spec?.topologySpreadConstraints?.[0]?.labelSelector?.matchLabels).toEqual(labels);
  expect(budget.spec?.selector?.matchLabels).toEqual(labels);
  expect(policy.spec?.podSelector?.matchLabels).toEqual(labels);
  expect(service.spec?.selector).toEqual(labels);
  expect(job.spec?.template.metadata?.labels).not.toEqual(labels);
  // Another pod could claim any address of a client, and the metrics are not for everybody.
  expect(policy.spec?.ingress?.map(({ ports, from }) => [ports, from?.length])).toEqual([
    [[{ port: 'http' }], 1],
    [[{ port: 'metrics' }], 1],
  ]);
});
