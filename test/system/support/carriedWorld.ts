import type { Pool } from 'pg';
import { createUnit, createViewer, grantAccess, read, type TestUnit, type TestUser } from '../../graphql/support.ts';
import { createTenantWithSecret, type TenantWithSecret } from './tenant.ts';

/** What is to be there after it was carried elsewhere. */
export type CarriedWorld = {
  readonly tenant: TenantWithSecret;
  readonly ada: TestUser & { readonly token: string };
  /** Below a unit that was granted to Ada. */
  readonly visible: TestUnit;
  readonly hidden: TestUnit;
};

const externalToken = 'the-external-token-of-ada';

export async function insertWorld(owner: Pool): Promise<CarriedWorld> {
  const tenant = await createTenantWithSecret(owner);
  const ada = await createViewer(tenant, { externalAuthenticationToken: externalToken });
  const granted = await createUnit(tenant, { name: 'Headquarters' });
  const visible = await createUnit(tenant, { name: 'Floor', parent: granted });
  const hidden = await createUnit(tenant, { name: 'Vault' });
  await grantAccess(tenant, ada, granted);
  return { tenant, ada, visible, hidden };
}

/** The tokens open what they opened, rows that were hidden are hidden, what was sealed opens, and writing works. */
export async function expectServed(url: string, { tenant, ada, visible, hidden }: CarriedWorld): Promise<void> {
  const units = `{ visible: node(id: "${visible.id}") { id } hidden: node(id: "${hidden.id}") { id } }`;
  const ofAda = `{ node(id: "${ada.id}") { ... on User { fullName externalAuthenticationToken } } }`;
  const create = `mutation { userCreate(fullName: "Grace", email: "${crypto.randomUUID()}@acme.test") { user { fullName } } }`;

  expect(await read({ url }, tenant.app, units)).toEqual({ visible: { id: visible.id }, hidden: { id: hidden.id } });
  expect(await read({ url }, ada.token, units)).toEqual({ visible: { id: visible.id }, hidden: null });
  expect(await read({ url }, tenant.basic, units)).toEqual({ visible: null, hidden: null });
  expect(await read({ url }, tenant.app, ofAda)).toEqual({
    node: { fullName: ada.fullName, externalAuthenticationToken: externalToken },
  });
  expect(await read({ url }, tenant.app, create)).toEqual({ userCreate: { user: { fullName: 'Grace' } } });
}
