import { createTenant, createUnit, createUser, createViewer, type GraphTest, grantAccess } from './support.ts';

/** Ada may enter the first floor, Grace all of the headquarters, and Alan nothing. */
export async function createHeadquarters(graph: Pick<GraphTest, 'database'>) {
  const tenant = await createTenant(graph);
  const ada = await createViewer(tenant, { fullName: 'Ada', email: `Ada.${tenant.organizationId}@acme.test` });
  const grace = await createViewer(tenant, { fullName: 'Grace' });
  const alan = await createUser(tenant, { fullName: 'Alan' });
  const headquarters = await createUnit(tenant, { name: 'Headquarters', externalIdentifier: 'hq' });
  const floor = await createUnit(tenant, { name: 'Floor 1', parent: headquarters, externalIdentifier: 'floor' });
  const room = await createUnit(tenant, { name: 'Room 1', parent: floor });
  const annex = await createUnit(tenant, { name: 'Annex' });
  await grantAccess(tenant, ada, floor);
  await grantAccess(tenant, grace, headquarters);
  await grantAccess(tenant, grace, room);
  return { tenant, ada, grace, alan, headquarters, floor, room, annex };
}
