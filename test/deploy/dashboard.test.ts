import { parser } from '@prometheus-io/lezer-promql';
import { createMetrics, readWorkerMetrics } from '../../src/observability/metrics.ts';
import { read, readOnlyYaml } from './support.ts';

/** What may be asked for: each name that a scrape has, and its labels. */
let labelsOf: Map<string, string[]>;
beforeAll(async () => {
  const metrics = createMetrics();
  metrics.watchProcess();
  labelsOf = new Map();
  for (const metric of metrics.registry.getMetricsAsArray()) {
    const { name, labelNames = [], aggregator } = metric as unknown as Shown;
    // A supervisor leaves these out.
    if (aggregator === 'omit') continue;
    const labels = [...labelNames, 'worker', 'instance', 'job'];
    const isHistogram = metric.constructor.name === 'Histogram';
    if (!isHistogram) labelsOf.set(name, labels);
    else for (const suffix of ['_sum', '_count', '_bucket']) labelsOf.set(name + suffix, [...labels, 'le']);
  }
  const ofWorkers = await readWorkerMetrics();
  for (const [, name = ''] of ofWorkers.matchAll(/^# TYPE (\w+)/gm)) labelsOf.set(name, ['instance', 'job']);
  // Prometheus' own.
  labelsOf.set('up', ['instance', 'job']);
});

/** What prom-client's metrics have, though its types do not say so. */
type Shown = { readonly name: string; readonly labelNames?: string[]; readonly aggregator: string };

/** What is wrong with an expression. */
function problemsWith(expression: string): string[] {
  const text = expression.replaceAll(/\$__rate_interval|\$__interval/g, '5m');
  const problems: string[] = [];
  const metrics: string[] = [];
  const labels: string[] = [];
  parser.parse(text).iterate({
    enter({ name, type, from, to, node }) {
      const token = text.slice(from, to);
      if (type.isError) problems.push(`${expression}: cannot be parsed at ${from}`);
      else if (name === 'Identifier' && node.parent?.name === 'VectorSelector') metrics.push(token);
      else if (name === 'LabelName') labels.push(token);
    },
  });
  if (metrics.length === 0) problems.push(`${expression}: asks for no metric`);
  const known = metrics.map((metric) => labelsOf.get(metric));
  for (const [index, of] of known.entries()) if (!of) problems.push(`${expression}: there is no ${metrics[index]}`);
  for (const label of labels)
    if (!known.some((of) => of?.includes(label))) problems.push(`${expression}: no metric has the label ${label}`);
  return problems;
}

type Panel = { title: string; type: string; datasource?: { uid: string }; targets?: { expr: string }[] };
type Dashboard = { panels: Panel[]; templating: { list: { name: string; definition?: string }[] } };

test('each query of the dashboard asks for what there is', async () => {
  const { panels, templating }: Dashboard = JSON.parse(await read('deploy/grafana/dashboard.json'));
  const ofVariables = templating.list.flatMap(
    ({ definition = '' }) => /^label_values\((.*), \w+\)$/.exec(definition)?.[1] ?? [],
  );
  expect(ofVariables).toHaveLength(1);
  const expressions = [...ofVariables, ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))];

  expect(expressions.length).toBeGreaterThan(15);
  expect(expressions.flatMap(problemsWith)).toEqual([]);
});

test('each metric of ours is on the dashboard', async () => {
  const text = await read('deploy/grafana/dashboard.json');

  const own = [...labelsOf.keys()].filter((name) => /^(graph|http|oauth)_/.test(name));
  const base = new Set(own.map((name) => name.replace(/_(sum|count|bucket)$/, '')));
  expect(base.size).toBeGreaterThan(10);
  expect([...base].filter((name) => !text.includes(name))).toEqual([]);
});

test('the dashboard knows its variables and has the data source that is provided', async () => {
  const { panels, templating }: Dashboard = JSON.parse(await read('deploy/grafana/dashboard.json'));
  const variables = templating.list.map(({ name }) => name);
  const used = JSON.stringify(panels).matchAll(/\$\{?([a-z]\w*)/g);

  expect([...new Set([...used].map(([, name]) => name))].toSorted()).toEqual(variables.toSorted());
  expect(panels.filter(({ type, datasource }) => type !== 'row' && datasource?.uid !== `\${datasource}`)).toEqual([]);
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
});

test('Grafana reads it where it is mounted', async () => {
  type Providers = { providers: { options: { path: string } }[] };
  const { providers } = await readOnlyYaml<Providers>('deploy/grafana/provisioning/dashboards/dashboards.yaml');
  type Compose = { services: { grafana: { volumes: string[] } } };
  const { services } = await readOnlyYaml<Compose>('deploy/compose.yaml');

  expect(services.grafana.volumes).toContain(
    `./grafana/dashboard.json:${providers[0]?.options.path}/dashboard.json:ro`,
  );
});

test('each alert asks for what there is', async () => {
  type Rules = { groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[] };
  const { groups } = await readOnlyYaml<Rules>('deploy/prometheus/alerts.yml');
  const rules = groups.flatMap(({ rules }) => rules);

  expect(rules.length).toBeGreaterThan(5);
  expect(rules.flatMap(({ expr }) => problemsWith(expr))).toEqual([]);
  // A summary can name what the alert is grouped by, and no more.
  for (const { expr, annotations } of rules)
    for (const [, label = ''] of annotations.summary.matchAll(/\$labels\.(\w+)/g))
      expect(label === 'instance' || /by \(([^)]*)\)/.exec(expr)?.[1]?.includes(label)).toBe(true);
});

test('a query that asks for what is not there would be found', () => {
  expect(problemsWith('sum(rate(graph_requests[5m]))')).toHaveLength(1);
  expect(problemsWith('sum by (client) (graph_requests_total)')).toHaveLength(1);
  expect(problemsWith('sum(rate(graph_requests_total[5m])')).toHaveLength(1);
});
