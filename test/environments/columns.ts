import { Pool } from 'pg';
import { findingsHere } from '../audit/support.ts';
import { tableSql } from '../generation/tables.ts';
import { present } from '../graphql/changes/feed.ts';
import {
  createCard,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  grantAccess,
  read,
  type Tenant,
} from '../graphql/support.ts';
import { syncUnits, syncUsers } from '../graphql/sync.ts';
import { createApplication, expectTokens, issueOwn, signIn, token } from '../oauth/support.ts';
import { until } from '../support/until.ts';
import { startReceiver, verified } from '../webhooks/receiver.ts';
import type { Environment } from './environment.ts';

/** An environment, and what the column `start` has found there. */
export type Place = Environment & { url: string; owner: Pool; tenant: Tenant };

/** What must work in every environment, in this order. */
export const columns = {
  /** A second time changes nothing. */
  async migrate(place) {
    await place.migrate();
    await place.migrate();
  },

  async start(place) {
    place.url = await place.start();
    place.owner = new Pool({ connectionString: await place.ownerUrl(), max: 2 });
    place.tenant = await createTenant({ database: place });

    expect(await (await fetch(`${place.url}/readyz`)).json()).toEqual({ status: 'ready' });
  },

  async tokens(place) {
    const test = { url: place.url, database: place, organizationId: place.tenant.organizationId };
    await issueOwn(test, await createApplication(test), 'app');

    const { clientId: client_id } = await createApplication(test, {
      ...{ confidential: false, scopes: ['me'], mobileApp: 'password' },
    });
    const { refresh_token } = await signIn(test, { client_id });
    expectTokens(await token(place, { form: { grant_type: 'refresh_token', refresh_token, client_id } }), 'me');
  },

  async 'main job'(place) {
    const person = await createViewer(place.tenant, { fullName: 'Ada Lovelace' });
    const unit = await createUnit(place.tenant, { name: 'Campus' });
    await createUnit(place.tenant, { name: 'Hall', parent: unit });
    await grantAccess(place.tenant, person, unit);
    await createCard(place.tenant, person, { type: 'IdentificationCode', name: 'PIN' });

    const query = '{ viewer { fullName accessibleUnits { nodes { name } } cardAssignments { card { name } } } }';
    expect(await read(place, person.token, query)).toEqual({
      viewer: {
        fullName: 'Ada Lovelace',
        accessibleUnits: { nodes: [{ name: 'Campus' }, { name: 'Hall' }] },
        cardAssignments: [{ card: { name: 'PIN' } }],
      },
    });
  },

  /** An address is one whatever its case, and a text is what was sent. */
  async sync(place) {
    const outcomes = (results: { outcome: string }[]) => results.map(({ outcome }) => outcome);
    const ada = { externalIdentifier: 'a', fullName: String.raw`Ada "İ" O'Neil \x`, email: 'ÄDA.I@acme.test' };
    const other = { externalIdentifier: 'o', fullName: 'Other', email: 'äda.i@ACME.test' };
    const units = [{ externalIdentifier: 'hq', name: 'Head' }];

    const synced = await syncUsers(place, place.tenant, [ada, other]);
    expect(outcomes(synced)).toEqual(['CREATED', 'REFUSED']);
    expect(synced[0]?.user).toMatchObject({ fullName: ada.fullName, email: ada.email });
    expect(outcomes(await syncUsers(place, place.tenant, [ada]))).toEqual(['UNCHANGED']);
    expect(outcomes(await syncUnits(place, place.tenant, units))).toEqual(['CREATED']);
    expect(outcomes(await syncUnits(place, place.tenant, [{ ...units[0], name: 'Hq' }]))).toEqual(['UPDATED']);
  },

  async pages(place) {
    const { tenant } = place;
    for (const name of ['b', 'B', 'ä']) {
      await createUser(tenant, { fullName: name, externalIdentifier: name });
      const unit = await createUnit(tenant, { name, externalIdentifier: name === 'B' ? null : name });
      await createCard(tenant, await createUser(tenant), { type: 'IdentificationCode', name: unit.name });
    }
    for (const [field, type] of Object.entries({
      users: 'UserOrderBy',
      rootUnits: 'UnitOrderBy',
      cards: 'CardOrderBy',
    }))
      await expectWholeLists(place, field, type);
  },

  async feed(place) {
    const position = await present(place, place.tenant);
    const query = 'query ($after: Cursor) { app { changes(after: $after) { nodes { operation typeName } } } }';
    await read(place, place.tenant.app, 'mutation { unitCreate(name: "Gate") { unit { id } } }');

    let nodes: object[] = [];
    await until(async () => {
      const variables = { after: position };
      type Data = { app: { changes: { nodes: object[] } } };
      ({ nodes } = (await read<Data>(place, place.tenant.app, query, variables)).app.changes);
      return nodes.length > 0;
    });
    expect(nodes).toEqual([{ operation: 'CREATE', typeName: 'Unit' }]);
  },

  async webhook(place) {
    const receiver = await startReceiver();
    const { webhookCreate } = await read<{ webhookCreate: { secret: string } }>(
      place,
      place.tenant.app,
      'mutation ($url: String!) { webhookCreate(url: $url) { secret } }',
      { url: receiver.url },
    );
    try {
      await read(place, place.tenant.app, 'mutation { unitCreate(name: "Door") { unit { id } } }');
      const [delivery] = await receiver.first(1);

      expect(delivery && verified(webhookCreate.secret, delivery).data).toMatchObject({ typeName: 'Unit' });
    } finally {
      await receiver.stop();
    }
  },

  /** A committed migration is on the developer's database, and the running service shows its table, in the order of a date. */
  async 'dev loop'(place) {
    await place.commit(eventsTable);
    await place.owner.query(
      `insert into app_public.events (organization_id, name, on_day)
       select $1, 'n' || n, date '2026-01-31' + n * 7 from generate_series(1, 5) as n`,
      [place.tenant.organizationId],
    );

    const type = '{ __type(name: "Event") { name } }';
    await until(async () => (await read<{ __type: unknown }>(place, place.tenant.app, type)).__type !== null);
    await expectWholeLists(place, 'events', 'EventOrderBy');
  },

  /** But for what is not the service's: tables in `public`, login roles of other rows, and the settings of a login role. */
  async audit(place) {
    const findings = `${findingsHere} and name not in ('authenticator_not_named', 'authenticator_setting') and object !~ '^public[.]'`;

    expect((await place.owner.query(findings)).rows).toEqual([]);
  },
} satisfies Record<string, (place: Place) => Promise<void>>;

export type Column = keyof typeof columns;

const eventsTable = `${tableSql({
  name: 'events',
  columns: 'id uuid not null default app_hidden.uuid_v7(), name text not null check (length(name) < 10), on_day date',
  key: ['id'],
  indexes: ['on_day'],
})}
    comment on policy all_graph_admin on app_public.events is 'The service itself reaches each row.';
    comment on policy select_graph_app on app_public.events is 'An application sees the rows of its organization.';
    select audit.record('app_public.events');`;

type Page = { nodes: { id: string }[]; totalCount: number; pageInfo: { endCursor: string; hasNextPage: boolean } };

/** In each order, pages of two lead from the first row to the last. */
async function expectWholeLists(place: Place, field: string, type: string): Promise<void> {
  const ask = <Data>(query: string, variables = {}) => read<Data>(place, place.tenant.app, query, variables);
  const { __type: orders } = await ask<{ __type: { enumValues: { name: string }[] } }>(
    `{ __type(name: "${type}") { enumValues { name } } }`,
  );
  const query = `query ($after: Cursor, $order: [${type}!]) { app { list: ${field}(first: 2, after: $after, orderBy: $order) {
    nodes { id } totalCount pageInfo { endCursor hasNextPage } } } }`;
  for (const { name: order } of orders.enumValues) {
    const seen = new Set<string>();
    let page: Page;
    let after: string | null = null;
    do {
      page = (await ask<{ app: { list: Page } }>(query, { after, order: [order] })).app.list;
      after = page.pageInfo.endCursor;
      for (const { id } of page.nodes) seen.add(id);
    } while (page.pageInfo.hasNextPage && page.nodes.length > 0);

    expect({ order, rows: seen.size }).toEqual({ order, rows: page.totalCount });
    expect(page.totalCount).toBeGreaterThan(2);
  }
}
