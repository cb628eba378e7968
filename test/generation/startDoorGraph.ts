import { ask, createTenant, createUnit, read, startGraphTest } from '../graphql/support.ts';
import { doorFunctions } from './doorFunctions.ts';

export type DoorGraph = Awaited<ReturnType<typeof startDoorGraph>>;

/** A service whose graph has doors and their functions, and a depot with three doors. */
export async function startDoorGraph() {
  const graph = await startGraphTest({}, ({ owner }) =>
    owner.query(`${doorFunctions} grant execute on function app_public.units_doors_named to graph_user`),
  );
  const tenant = await createTenant(graph);
  const depot = await createUnit(tenant, { name: 'Depot' });
  await createUnit(tenant, { name: 'Annex' });

  const run = (query: string, variables: object = {}) => read<object>(graph, tenant.app, query, { ...variables });

  /** Reads a selection of the unit that the tests are about. */
  const ofDepot = async (selection: string, variables: object = {}, definitions = '') => {
    const query = `query ($id: ID!${definitions}) { node(id: $id) { ... on Unit { ${selection} } } }`;
    const { node } = await read<{ node: object }>(graph, tenant.app, query, { id: depot.id, ...variables });
    return node;
  };

  /** The status and errors of a request. */
  const refusals = async (query: string, variables: object = {}) => {
    const { status, body } = await ask(graph, tenant.app, query, { ...variables });
    return [status, ...(body.errors ?? []).map(({ message, extensions }) => [message, extensions])];
  };

  const query = 'mutation ($doors: [DoorInput!]!) { doorsCreate(doors: $doors) { doors { name } } }';
  const names = ['North gate', 'North hatch', 'South gate'];
  const given = names.map((name) => ({ unitId: depot.id, name }));
  expect(await run(query, { doors: given })).toEqual({ doorsCreate: { doors: names.map((name) => ({ name })) } });
  return { graph, tenant, depot, run, ofDepot, refusals };
}
