import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { company, insertCompany, undone } from './support.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await insertCompany(database.owner);
});
afterAll(() => database.drop());

const ask = (...statements: string[]) => undone(database.owner, ...statements);

describe('audit.who_can', () => {
  const whoCan = (table: string, key: string) =>
    `select command, principal, policies, through from audit.who_can('${table}', '${key}')`;

  it('lists who reaches a unit, by which policy and through which granted root', async () => {
    expect(await ask(whoCan('app_public.units', company.room))).toEqual([
      { command: 'select', principal: 'app:acme-backend', policies: ['select_graph_app'], through: null },
      {
        command: 'select',
        principal: `me:${company.ada}`,
        policies: ['select_graph_user'],
        through: `access to unit Headquarters ${company.headquarters}`,
      },
      { command: 'update', principal: 'app:acme-backend', policies: ['update_graph_app'], through: null },
      { command: 'delete', principal: 'app:acme-backend', policies: ['delete_graph_app'], through: null },
    ]);
  });

  it('lists who changes a person, and the columns that are granted', async () => {
    const rows = await ask(
      `select command, principal, columns, through from audit.who_can('app_public.users', '${company.ada}')`,
    );

    expect(rows.map(({ command, principal }) => `${command} ${principal}`)).toEqual([
      'select app:acme-backend',
      `select oauth:${company.acme}`,
      `select me:${company.ada}`,
      'update app:acme-backend',
      'delete app:acme-backend',
    ]);
    expect(rows[1]?.columns).toContain('email');
    expect(rows[1]?.columns).not.toContain('locale');
    expect(rows[2]?.through).toBe('the own row');
  });

  it('names the assignment that shows a card', async () => {
    expect(await ask(whoCan('app_public.cards', company.badge))).toContainEqual({
      command: 'select',
      principal: `me:${company.ada}`,
      policies: ['select_graph_user'],
      through: `card assignment ${company.assignment}`,
    });
  });

  it('takes a key of several columns as JSON', async () => {
    const key = JSON.stringify({ ancestor_id: company.headquarters, unit_id: company.floor });

    expect(await ask(whoCan('app_hidden.unit_ancestors', key))).toMatchObject([
      { command: 'select', principal: 'app:acme-backend' },
      { command: 'select', principal: `me:${company.ada}` },
    ]);
    await expect(ask(whoCan('app_hidden.unit_ancestors', company.floor))).rejects.toMatchObject({
      code: '22023',
      hint: expect.stringContaining('"ancestor_id"'),
    });
    await expect(ask(whoCan('app_public.units', company.ada))).rejects.toMatchObject({ code: 'P0002' });
  });

  it('finds by trying what a mistake in a policy opens', async () => {
    const rows = await ask(
      'alter policy select_graph_user on app_public.units using (true)',
      whoCan('app_public.units', company.room),
    );

    expect(rows.filter(({ command }) => command === 'select').map(({ principal }) => principal)).toEqual([
      'app:acme-backend',
      ...[company.ada, company.grace, company.konrad, company.mallory].map((user) => `me:${user}`),
    ]);
  });

  it.each([
    ['as it is', 'select 1'],
    ['open to the organization', 'using (organization_id = (select app_hidden.current_organization_id()))'],
    ['open to one person', `using ((select app_hidden.current_user_id()) = '${company.konrad}')`],
    ['open to all but one person', `using ((select app_hidden.current_user_id()) <> '${company.grace}')`],
    [
      'open by the way of another person',
      `using (exists (select from app_public.users u where u.id = (select app_hidden.current_user_id()) and u.full_name like '%ra%'))`,
    ],
    ['refusing some', `using (app_hidden.refuse_ada())`],
    [
      'open by two tables with a comma between them',
      `using (exists (select from app_public.users u, app_public.card_assignments a where a.user_id = u.id))`,
    ],
    [
      'open to those who have no card, by the same tables',
      `using (not exists (select from app_public.users u, app_public.card_assignments a where a.user_id = u.id))`,
    ],
  ])('is what each person of the organization finds by asking, under a policy that is %s', async (_what, policy) => {
    const prepare = [
      `create function app_hidden.refuse_ada() returns boolean language plpgsql stable as $$ begin
         if app_hidden.current_user_id() = '${company.ada}' then raise insufficient_privilege; end if; return true; end $$`,
      'grant execute on function app_hidden.refuse_ada() to graph_user',
      policy.startsWith('using') ? `alter policy select_graph_user on app_public.units ${policy}` : policy,
    ];
    const found = await ask(...prepare, `${whoCan('app_public.units', company.room)} where principal like 'me:%'`);
    const asking = await ask(
      ...prepare,
      `select p.principal from audit.principals p, audit.explain_access(p.principal, 'app_public.units', '${company.room}') e
       where p.role = 'graph_user' and p.organization_id = '${company.acme}' and e.command = 'select' and e.policy is null and e.allowed`,
    );

    const own = new Set([company.ada, company.grace, company.konrad].map((user) => `me:${user}`));
    expect(
      found
        .map(({ principal }) => String(principal))
        .filter((principal) => own.has(principal))
        .sort(),
    ).toEqual(asking.map(({ principal }) => principal).sort());
  });

  it.each([
    ['true', 2],
    [
      `exists (select from oauth.applications a where a.id = (select app_hidden.current_application_id()) and a.name = 'Rival Backend')`,
      1,
    ],
    ['organization_id = (select app_hidden.current_organization_id())', 1],
  ])('names the principals of all organizations that see a row by %s', async (policy, count) => {
    const rows = await ask(
      `alter policy select_graph_app on app_public.units using (${policy})`,
      `${whoCan('app_public.units', company.room)} where principal like 'app:%' and command = 'select' order by 2`,
    );

    const rival = 'app:rival-backend';
    expect(rows.map(({ principal }) => principal)).toEqual(
      policy.startsWith('exists') ? [rival] : ['app:acme-backend', rival].slice(0, count),
    );
  });

  it('names who may read a column and not the key, or write a column and not read it', async () => {
    const rows = await ask(
      'revoke select on app_public.users from graph_user',
      'revoke select (organization_id, id, full_name) on app_public.users from graph_user',
      'grant select (email), update (full_name) on app_public.users to graph_user',
      'grant execute on function app_hidden.is_text(text), app_hidden.trimmed(text) to graph_user',
      'create policy update_graph_user on app_public.users for update to graph_user using (true) with check (true)',
      `select command, principal from audit.who_can('app_public.users', '${company.ada}') where principal like 'me:%'`,
    );

    expect(rows.map(({ command, principal }) => [command, principal])).toEqual([
      ['select', `me:${company.ada}`],
      ['update', `me:${company.ada}`],
    ]);
  });

  it('names who reads a table without row-level security', async () => {
    const rows = await ask(
      'create table app_public.signs (id uuid primary key)',
      `insert into app_public.signs values ('${company.room}')`,
      'grant select on app_public.signs to graph_app',
      whoCan('app_public.signs', company.room),
    );

    expect(rows.map(({ principal }) => principal)).toEqual(['app:acme-backend', 'app:rival-backend']);
  });

  it('tries to change and to delete as those alone who see the row', async () => {
    const rows = await ask(
      `create policy update_graph_user on app_public.users for update to graph_user using (true) with check (true)`,
      `grant update (full_name) on app_public.users to graph_user`,
      `grant execute on function app_hidden.is_text(text), app_hidden.trimmed(text) to graph_user`,
      `select command, principal from audit.who_can('app_public.users', '${company.ada}') where principal like 'me:%'`,
    );

    expect(rows).toEqual([
      { command: 'select', principal: `me:${company.ada}` },
      { command: 'update', principal: `me:${company.ada}` },
    ]);
  });

  it('leaves nothing behind, and the caller who it was', async () => {
    const rows = await ask(
      whoCan('app_public.units', company.room),
      `select current_setting('role') as role, coalesce(current_setting('graph.user_id', true), '') as user,
         (select count(*)::int from app_public.users) as users`,
    );

    expect(rows).toEqual([{ role: 'none', user: '', users: 4 }]);
  });

  it('leaves out whose tokens are refused', async () => {
    const rows = await ask(
      `insert into oauth.credentials (organization_id, user_id, disabled_at) values ('${company.acme}', '${company.ada}', now())`,
      `update oauth.applications set disabled_at = now() where client_id = 'acme-backend'`,
      whoCan('app_public.units', company.room),
    );

    expect(rows).toEqual([]);
  });
});
