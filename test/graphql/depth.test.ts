import { shareService } from '../support/sharedService.ts';
import { createTenant, createUnit, createViewer, type GraphTest, grantAccess, read, type TestUnit } from './support.ts';

const levels = 100;
/** For other ways to write them: to plan each level takes some ten milliseconds, and a statement reads eight of them. */
const fewer = 20;

let graph: GraphTest;
let app: string;
let person: string;
beforeAll(async () => {
  graph = await shareService();
  const tenant = await createTenant(graph);
  const viewer = await createViewer(tenant);
  app = tenant.app;
  person = viewer.token;
  let parent: TestUnit | undefined;
  for (let level = 0; level <= levels; level++) {
    parent = await createUnit(tenant, { name: `Level ${level}`, ...(parent && { parent }) });
    if (level === 0) await grantAccess(tenant, viewer, parent);
  }
});

type Nested = { name: string; children?: { nodes?: Nested[]; edges?: { node: Nested }[] } };

const forms = {
  nodes: (inner: string) => `name children { nodes { ${inner} } }`,
  edges: (inner: string) => `name children { edges { node { ${inner} } } }`,
  'edges with everything beside them': (inner: string) =>
    `name children(first: 1) { totalCount pageInfo { hasNextPage } edges { cursor node { ${inner} } } }`,
};

/** The names from the top down, as deep as the answer goes. */
function namesIn({ name, children }: Nested): string[] {
  const [child] = children?.nodes ?? children?.edges?.map(({ node }) => node) ?? [];
  return child ? [name, ...namesIn(child)] : [name];
}

const nested = (form: (inner: string) => string, depth: number): string =>
  depth === 0 ? 'name' : form(nested(form, depth - 1));
const expected = Array.from({ length: levels + 1 }, (_, level) => `Level ${level}`);

test.each([
  ['nodes', levels],
  ['edges', fewer],
  ['edges with everything beside them', fewer],
] as const)('children are read level by level, as %s: %d of them', async (name, depth) => {
  const form = forms[name];
  const { app: found } = await read<{ app: { rootUnits: { nodes: Nested[] } } }>(
    graph,
    app,
    `{ app { rootUnits { nodes { ${nested(form, depth)} } } } }`,
  );

  expect(found.rootUnits.nodes.map(namesIn)).toEqual([expected.slice(0, depth + 1)]);
});

test('children below an accessible unit are read a hundred levels deep', async () => {
  const { viewer } = await read<{ viewer: { accessibleUnits: { nodes: Nested[] } } }>(
    graph,
    person,
    `{ viewer { accessibleUnits(first: 1) { nodes { ${nested(forms.nodes, levels)} } } } }`,
  );

  expect(viewer.accessibleUnits.nodes.map(namesIn)).toEqual([expected]);
});

test('the parents of the deepest unit are followed a hundred levels up', async () => {
  type Unit = { name: string; parent: Unit | null };
  const parents = (depth: number): string => (depth === 0 ? 'name' : `name parent { ${parents(depth - 1)} }`);
  const { viewer } = await read<{ viewer: { accessibleUnits: { nodes: Unit[] } } }>(
    graph,
    person,
    `{ viewer { accessibleUnits(last: 1) { nodes { ${parents(levels)} } } } }`,
  );

  const names: string[] = [];
  for (let unit: Unit | null = viewer.accessibleUnits.nodes[0] ?? null; unit; unit = unit.parent) names.push(unit.name);
  expect(names).toEqual(expected.toReversed());
});

test('children stop where the tree does', async () => {
  const { viewer } = await read<{ viewer: { accessibleUnits: { nodes: Nested[] } } }>(
    graph,
    person,
    `{ viewer { accessibleUnits(last: 3) { nodes { ${nested(forms.nodes, 10)} } } } }`,
  );

  expect(viewer.accessibleUnits.nodes.map(namesIn)).toEqual([
    expected.slice(98),
    expected.slice(99),
    expected.slice(100),
  ]);
});
