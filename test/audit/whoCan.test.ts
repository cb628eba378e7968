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

  it('understands every policy of ours, and finds by it alone what each principal finds by asking', async () => {
    const examples = {
      'app_public.users': company.ada,
      'app_public.units': company.room,
      'app_public.cards': company.badge,
      'app_public.card_assignments': company.assignment,
      'app_hidden.unit_access': JSON.stringify({ user_id: company.ada, unit_id: company.headquarters }),
    };
    for (const [table, key] of Object.entries(examples)) {
      const roles =
        await ask(`select role from audit.matrix where relation = '${table}'::regclass and command = 'select' and granted
        and role in (select role from audit.principals)`);
      expect(roles.length).toBeGreaterThan(0);
      for (const { role } of roles) {
        const [condition] = await ask(`select audit.condition_for('${table}', '${role}') as text`);
        expect({ table, role, understood: typeof condition?.text }).toEqual({ table, role, understood: 'string' });

        const [compared] = await ask(`
          with value as materialized (select audit.find_row('${table}', '${key}') as value)
          select array(
              select principal from audit.principals asked, value
              where role = '${role}' and exists (
                select from jsonb_populate_record(null::${table}, value) as ${table.split('.')[1]} where ${condition?.text}) order by 1) as found,
            array(
              select principal from audit.principals p, value
              where role = '${role}' and audit.attempt(p, '${table}', value, 'select') = 'allowed' order by 1) as trying`);
        expect({ table, role, found: compared?.found }).toEqual({ table, role, found: compared?.trying });
      }
    }
  });

  it('tries all of the organization when it does not understand a policy', async () => {
    const opaque = [
      `create function app_hidden.opens(unit_id uuid) returns boolean language sql stable as
         $$ select exists (select from app_public.users u where u.id = app_hidden.current_user_id() and u.full_name = 'Konrad') $$`,
      'grant execute on function app_hidden.opens(uuid) to graph_user',
      'alter policy select_graph_user on app_public.units using (app_hidden.opens(id))',
    ];

    expect(await ask(...opaque, `select audit.condition_for('app_public.units', 'graph_user') as text`)).toEqual([
      { text: null },
    ]);
    expect(
      await ask(...opaque, `${whoCan('app_public.units', company.room)} where principal like 'me:%'`),
    ).toMatchObject([{ principal: `me:${company.konrad}` }]);
  });

  it.each([
    [
      'a table that a restrictive policy narrows',
      'create policy narrow on app_public.users as restrictive for select to graph_user using (false)',
    ],
    ['a table without row-level security', 'alter table app_public.users disable row level security'],
  ])('does not take for understood what a policy finds in %s', async (_what, narrowing) => {
    const blocking = [
      `alter policy select_graph_user on app_public.units using (
         organization_id = (select app_hidden.current_organization_id()) and not exists (select from app_public.users u where u.full_name = 'Ada'))`,
      narrowing,
    ];
    const tried = `select array(select principal from audit.principals p where role = 'graph_user' and organization_id = '${company.acme}'
        and audit.attempt(p, 'app_public.units', audit.find_row('app_public.units', '${company.room}'), 'select') = 'allowed' order by 1) as found`;

    const [text] = await ask(...blocking, `select audit.condition_for('app_public.units', 'graph_user') as text`);
    const [expected] = await ask(...blocking, tried);
    const found = await ask(
      ...blocking,
      `${whoCan('app_public.units', company.room)} where principal like 'me:%' order by 2`,
    );

    expect(text).toEqual({ text: null });
    expect(found.map(({ principal }) => principal)).toEqual(expected?.found);
  });

  it('asks no principal of another organization, unless a stranger sees the row, too', async () => {
    const open = [
      `alter policy select_graph_app on app_public.units using (true)`,
      `select principal from audit.who_can('app_public.units', '${company.room}') where principal like 'app:%' and command = 'select' order by 1`,
    ];

    expect(await ask(...open)).toEqual([{ principal: 'app:acme-backend' }, { principal: 'app:rival-backend' }]);
    expect(await ask(open[1] ?? '')).toEqual([{ principal: 'app:acme-backend' }]);
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
