import type { Mutate } from './mutating.ts';
import { type GraphTest, read } from './support.ts';

/** The selection of a mutation that makes or withdraws a grant. */
export const shown = 'accessGrant { id validFrom validUntil source }';
export type Grant = { id: string; validFrom: string | null; validUntil: string | null; source: string | null };

export const [past, future, later] = [
  '2020-02-29T12:00:00+00:00',
  '2190-01-01T00:00:00+00:00',
  '2190-01-02T00:00:00+00:00',
];

/** Makes a grant, or changes its times. */
export const giveAccess = async (mutate: Mutate, args: object) =>
  ((await mutate('accessGrant', args, shown)) as { accessGrant: Grant }).accessGrant;

/** The names of the units that the person of the token may enter. */
export const seenBy = async (graph: GraphTest, token: string) =>
  (
    await read<{ viewer: { accessibleUnits: { nodes: { name: string }[] } } }>(
      graph,
      token,
      '{ viewer { accessibleUnits { nodes { name } } } }',
    )
  ).viewer.accessibleUnits.nodes.map(({ name }) => name);

/** Whether the person of the token may enter anything: each of the two lists says the same. */
export const mayEnterAny = async (graph: GraphTest, token: string) => {
  const query = '{ viewer { accessibleUnits { totalCount } accessGrants { totalCount } } }';
  type Viewer = { viewer: { accessibleUnits: { totalCount: number }; accessGrants: { totalCount: number } } };
  const { viewer } = await read<Viewer>(graph, token, query);
  expect(viewer.accessGrants.totalCount > 0).toBe(viewer.accessibleUnits.totalCount > 0);
  return viewer.accessibleUnits.totalCount > 0;
};

/** The grants of the token's organization. */
export const readGrants = async (graph: GraphTest, token: string) =>
  (
    await read<{ app: { accessGrants: { nodes: Grant[] } } }>(
      graph,
      token,
      '{ app { accessGrants { nodes { id validFrom validUntil source } } } }',
    )
  ).app.accessGrants.nodes;
