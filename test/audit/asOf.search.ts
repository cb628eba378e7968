import type { PoolClient } from 'pg';
import { createEmptiedDatabase, type EmptiedDatabase } from '../support/emptiedDatabase.ts';
import { sizeOf } from '../support/search.ts';
import { company, insertCompany, undone } from './support.ts';

let database: EmptiedDatabase;
beforeAll(async () => {
  database = await createEmptiedDatabase();
});
beforeEach(() => insertCompany(database.owner));
afterEach(() => database.empty());
afterAll(() => database.drop());

const ask = async (statement: string, ...values: unknown[]) => (await database.owner.query(statement, values)).rows;
const now = async (): Promise<string> => (await ask('select clock_timestamp()::text as now'))[0].now;

/** The names of the units that a principal could see. */
const unitsAt = async (principal: string, at: string) => {
  const text = `select value ->> 'name' as name from audit.visible_at($1, $2) where relation = 'app_public.units'::regclass order by name`;
  return (await ask(text, principal, at)).map(({ name }) => name);
};
const readersAt = async (table: string, key: string, at: string) => {
  const text = `select principal from audit.who_could($1, $2, $3) where command = 'select' order by principal`;
  return (await ask(text, table, key, at)).map(({ principal }) => principal);
};
const backend = 'app:acme-backend';
const ada = `me:${company.ada}`;
const grace = `me:${company.grace}`;

describe('audit.visible_at and audit.who_could', () => {
  it('name what a person lost with a grant, with the units that were below it then', async () => {
    const before = await now();
    await ask(`update app_public.units set parent_id = '${company.depot}' where id = '${company.room}'`);
    await ask(`delete from app_hidden.unit_access where user_id = '${company.ada}'`);
    const after = await now();

    expect(await unitsAt(ada, before)).toEqual(['Floor', 'Headquarters', 'Room']);
    expect(await unitsAt(ada, after)).toEqual([]);
    expect(await unitsAt(grace, before)).toEqual(['Depot']);
    expect(await unitsAt(grace, after)).toEqual(['Depot', 'Room']);
    expect(await readersAt('app_public.units', company.room, before)).toEqual([backend, ada]);
    expect(await readersAt('app_public.units', company.room, after)).toEqual([backend, grace]);
    // They are there all the same.
    expect(await unitsAt(backend, after)).toEqual(['Depot', 'Floor', 'Headquarters', 'Room']);
  });

  it('say through which access, by which policy', async () => {
    const before = await now();
    await ask(`delete from app_hidden.unit_access where user_id = '${company.ada}'`);

    const text = `select * from audit.who_could('app_public.units', $1, $2) where principal = $3`;
    expect(await ask(text, company.room, before, ada)).toEqual([
      {
        command: 'select',
        principal: ada,
        name: 'Ada',
        columns: [],
        policies: ['select_graph_user'],
        rules: ['A person sees the units granted to them and everything below these.'],
        through: `access to unit Headquarters ${company.headquarters}`,
      },
    ]);
    expect(await ask(text, company.room, await now(), ada)).toEqual([]);
  });

  it('have a row that was deleted since, and its values then; not one that was added', async () => {
    const first = await now();
    await ask(`update app_public.units set name = 'Yard' where id = '${company.depot}'`);
    const second = await now();
    await ask(`update app_public.units set name = 'Court' where id = '${company.depot}'`);
    await ask(`delete from app_public.units where id = '${company.depot}'`);
    await ask(`insert into app_public.units (organization_id, name) values ('${company.acme}', 'Annex')`);

    expect(await unitsAt(grace, first)).toEqual(['Depot']);
    expect(await unitsAt(grace, second)).toEqual(['Yard']);
    expect(await unitsAt(grace, await now())).toEqual([]);
    expect(await unitsAt(backend, second)).toEqual(['Floor', 'Headquarters', 'Room', 'Yard']);
    expect(await unitsAt(backend, await now())).toEqual(['Annex', 'Floor', 'Headquarters', 'Room']);
    expect(await readersAt('app_public.units', company.depot, second)).toEqual([backend, grace]);
    await expect(readersAt('app_public.units', company.depot, await now())).rejects.toMatchObject({ code: 'P0002' });
  });

  it('go by the time of a grant, not by that of the question', async () => {
    const give = (unit: string, times: string) =>
      ask(`insert into app_hidden.unit_access (organization_id, user_id, unit_id, source, valid_from, valid_until)
        values ('${company.acme}', '${company.grace}', '${unit}', 'hr', ${times})`);
    await give(company.floor, `null, clock_timestamp() + interval '1 second'`);
    await give(company.headquarters, `clock_timestamp() + interval '1 day', null`);
    const within = await now();
    expect(await unitsAt(grace, within)).toEqual(['Depot', 'Floor', 'Room']);
    await ask('select pg_sleep(1)');

    expect(await unitsAt(grace, within)).toEqual(['Depot', 'Floor', 'Room']);
    expect(await unitsAt(grace, await now())).toEqual(['Depot']);
  });

  it('have a row that was deleted and added again as it was before', async () => {
    const grant = `(organization_id, user_id, unit_id) values ('${company.acme}', '${company.grace}', '${company.depot}')`;
    const before = await now();
    await ask(`delete from app_hidden.unit_access where user_id = '${company.grace}'`);
    const between = await now();
    await ask(`insert into app_hidden.unit_access ${grant}`);

    expect(await unitsAt(grace, before)).toEqual(['Depot']);
    expect(await unitsAt(grace, between)).toEqual([]);
    expect(await unitsAt(grace, await now())).toEqual(['Depot']);
  });

  it('ask the principals of that time', async () => {
    const before = await now();
    await ask(`insert into oauth.applications (organization_id, name, client_id, scopes)
      values ('${company.acme}', 'Late', 'acme-late', '{app}')`);
    await ask(`delete from oauth.applications where client_id = 'acme-backend'`);

    expect(await readersAt('app_public.units', company.depot, before)).toEqual([backend, grace]);
    expect(await readersAt('app_public.units', company.depot, await now())).toEqual(['app:acme-late', grace]);
    expect(await unitsAt(backend, before)).toContain('Depot');
    await expect(unitsAt('app:acme-late', before)).rejects.toMatchObject({ code: 'P0002' });
  });

  it('do not know a person who was deleted since, and still know the others', async () => {
    const before = await now();
    await ask(`delete from app_public.users where id = '${company.ada}'`);

    expect(await readersAt('app_public.units', company.room, before)).toEqual([backend]);
    expect(await readersAt('app_public.units', company.depot, before)).toEqual([backend, grace]);
    await expect(unitsAt(ada, before)).rejects.toMatchObject({ code: 'P0002' });
  });

  it('show no secret, and nothing but what the role may read', async () => {
    const [row] = await ask(
      `select value from audit.visible_at($1, now()) where relation = 'app_public.users'::regclass`,
      `oauth:${company.acme}`,
    );

    expect(Object.keys(row?.value).sort()).toEqual(['email', 'full_name']);
  });

  it('refuse what the history does not have', async () => {
    const refused = (statement: string) => expect(ask(statement)).rejects;

    await refused(`select audit.who_could('app_hidden.time_zones', 'x', now())`).toMatchObject({ code: '22023' });
    await refused(`select audit.visible_at('${ada}', now() - interval '401 days')`).toMatchObject({ code: '22023' });
    await refused(`select audit.visible_at('me:none', now())`).toMatchObject({ code: 'P0002' });
    const before = await now();
    await ask(`update app_public.cards set id = gen_random_uuid() where id = '${company.badge}'`).catch(
      () => undefined,
    );
    await ask(`insert into app_public.cards (organization_id, id, type, name) values
      ('${company.acme}', '${company.mallory}', 'IdentificationCode', 'Spare')`);
    await ask(`update app_public.cards set id = '${company.konrad}' where id = '${company.mallory}'`);
    await refused(`select audit.visible_at('${ada}', '${before}')`).toMatchObject({ code: '0A000' });
  });

  it.each(['graph_app', 'graph_user', 'graph_basic', 'graph_oauth', 'graph_auditor'])('refuse %s', async (role) => {
    const call = (name: string) => undone(database.owner, `set local role ${role}`, `select ${name}`);
    const refusal = { code: '42501' };

    await expect(call(`audit.visible_at('${ada}', now())`)).rejects.toMatchObject(refusal);
    await expect(call(`audit.who_could('app_public.units', '${company.room}', now())`)).rejects.toMatchObject(refusal);
    await expect(call(`audit.rebuild(now(), null)`)).rejects.toMatchObject(refusal);
  });
});

describe('what stands in for the tables', () => {
  it('has their rights, policies and types, and is gone afterwards', async () => {
    const rights = `
      select r.name, m.command, m.role, m.granted, m.columns, m.row_security, m.rules
      from audit.matrix m join audit.relations r using (relation)
      where m.granted and r.name ~ '^(app_public|app_hidden|oauth)\\.' and r.name = any ($1) order by 1, 2, 3`;
    const policies = `
      select r.name, p.policy, p.command, p.permissive, p.roles, p.using_expression, p.check_expression
      from audit.policies p join audit.relations r using (relation) where r.name = any ($1) order by 1, 2`;
    const names = (
      await ask(`select name from audit.recorded where rebuildable
        union all select name from audit.relations where kind = 'view' and name ~ '^app_public'`)
    ).map(({ name }) => name);
    const client = await database.owner.connect();
    const read = async () => [(await client.query(rights, [names])).rows, (await client.query(policies, [names])).rows];
    const real = await read();
    await client.query('begin; select audit.rebuild(now(), null)');
    const copied = await read();
    await client.query('rollback');
    client.release();

    expect(copied).toEqual(real);
    expect(real.map((rows) => rows.length > 30)).toEqual([true, true]);
    expect(await ask(`select from pg_namespace where nspname ~ '_now$'`)).toEqual([]);
  });

  it('lets others read and write meanwhile', async () => {
    const auditor = await database.owner.connect();
    try {
      await auditor.query('begin');
      await auditor.query('select audit.rebuild(now(), null)');

      const writer = await database.owner.connect();
      await writer.query(`set lock_timeout = '50ms'`);
      await writer.query(`update app_public.units set name = 'Yard' where id = '${company.depot}'`);
      await writer.query(`delete from app_hidden.unit_access where user_id = '${company.grace}'`);
      expect((await writer.query('select from app_public.units')).rowCount).toBe(4);
      writer.release(true);
    } finally {
      await auditor.query('rollback');
      auditor.release();
    }
    expect(await unitsAt(backend, await now())).toContain('Yard');
  });
});

describe('after a migration', () => {
  let shared: EmptiedDatabase;
  beforeEach(async () => {
    shared = database;
    database = await createEmptiedDatabase();
    await insertCompany(database.owner);
  });
  afterEach(async () => {
    await database.drop();
    database = shared;
  });

  it('audit.visible_at goes by the present policies and rights', async () => {
    const before = await now();
    await ask(
      `alter policy select_graph_user on app_public.units using (organization_id = (select app_hidden.current_organization_id()))`,
    );
    await ask('revoke select on app_public.cards from graph_user');

    expect(await unitsAt(`me:${company.konrad}`, before)).toEqual(['Depot', 'Floor', 'Headquarters', 'Room']);
    const visible = await ask('select distinct relation::text from audit.visible_at($1, $2) order by 1', ada, before);
    expect(visible.map(({ relation }) => relation)).toEqual([
      ...['app_hidden.unit_access', 'app_public.card_assignments', 'app_public.units', 'app_public.users'],
    ]);
  });

  it('a table of it stands in, too: with a type, functions and a view of its own', async () => {
    await ask(`
      create type app_public.door_state as enum ('open', 'closed');
      create table app_public.doors (
        organization_id uuid not null references app_hidden.organizations, id uuid not null default app_hidden.uuid_v7(),
        unit_id uuid not null, state app_public.door_state not null default 'open', label text generated always as ('Door ' || id::text) stored,
        pin_hash text not null default 'secret', primary key (organization_id, id));
      create view app_public.open_doors with (security_invoker = true) as select * from app_public.doors where state = 'open';
      create function app_hidden.my_units() returns uuid[] language sql stable
        begin atomic select array(select u.id from app_public.units u); end;
      grant execute on function app_hidden.my_units() to graph_user;
      alter table app_public.doors enable row level security, force row level security;
      create policy all_graph_admin on app_public.doors to graph_admin using (true) with check (true);
      create policy select_graph_user on app_public.doors for select to graph_user using (
        organization_id = (select app_hidden.current_organization_id()) and unit_id = any ((select app_hidden.my_units())::uuid[])
        and state <> 'closed'::app_public.door_state);
      grant select on app_public.doors to graph_user;
      grant select on app_public.doors to graph_admin;
      grant select on app_public.open_doors to graph_user;
      select audit.record('app_public.doors', secrets => '{pin_hash}');`);
    await ask(`insert into app_public.doors (organization_id, id, unit_id) values
      ('${company.acme}', '${company.badge}', '${company.room}'), ('${company.acme}', '${company.assignment}', '${company.depot}')`);
    const before = await now();
    await ask(`update app_public.doors set state = 'closed'`);
    const closed = await now();
    await ask(`update app_public.units set parent_id = '${company.depot}' where id = '${company.room}'`);
    await ask('delete from app_public.doors');

    const doors = `select key from audit.visible_at($1, $2) where relation = 'app_public.doors'::regclass`;
    expect(await ask(doors, ada, before)).toEqual([{ key: company.badge }]);
    expect(await ask(doors, grace, before)).toEqual([{ key: company.assignment }]);
    expect(await ask(doors, ada, closed)).toEqual([]);
    expect(await readersAt('app_public.doors', company.badge, before)).toEqual([ada]);
  });
});

describe('a history of many changes', () => {
  it('gives at each moment what each principal saw then', async () => {
    const principals = [backend, ada, grace, `me:${company.konrad}`];
    const client = await database.owner.connect();
    const made = changes.slice(0, sizeOf({ small: 2, whole: changes.length }));
    const seen: { at: string; visible: string[][] }[] = [];
    try {
      for (const change of made) {
        await client.query(change);
        const visible = [];
        for (const principal of principals) visible.push(await visibleTo(client, principal));
        seen.push({ at: await now(), visible });
      }
    } finally {
      client.release();
    }

    const found = [];
    for (const { at } of seen) {
      const visible = [];
      for (const principal of principals) visible.push(await visibleAt(principal, at));
      found.push({ at, visible });
    }
    expect(found).toEqual(seen);
    // Each change shows, to one of them at least.
    expect(new Set(seen.map(({ visible }) => JSON.stringify(visible))).size).toBe(made.length);
  });

  const acme = `'${company.acme}'`;
  const changes = [
    `insert into app_public.units (organization_id, id, parent_id, name) values (${acme}, '${company.mallory}', '${company.room}', 'Cabinet')`,
    `update app_public.units set parent_id = '${company.depot}' where id = '${company.floor}'`,
    `insert into app_hidden.unit_access (organization_id, user_id, unit_id) values (${acme}, '${company.konrad}', '${company.room}')`,
    `update app_public.units set name = name || '!', parent_id = null where id = '${company.room}'`,
    `delete from app_hidden.unit_access where user_id = '${company.grace}'`,
    `insert into app_public.card_assignments (organization_id, user_id, card_id) values (${acme}, '${company.grace}', '${company.badge}')`,
    `update app_public.cards set name = 'Key' where id = '${company.badge}'`,
    `delete from app_public.card_assignments where user_id = '${company.ada}'`,
    `update app_public.users set full_name = 'Konrad Z.', external_identifier = 'k' where id = '${company.konrad}'`,
    `update app_public.users set external_identifier = null where id = '${company.konrad}'`,
    `insert into app_hidden.unit_access (organization_id, user_id, unit_id) values (${acme}, '${company.grace}', '${company.depot}')`,
    `delete from app_public.units where id = '${company.floor}'`,
    `delete from app_public.units where id = '${company.mallory}'; delete from app_public.units where id = '${company.room}'`,
    `insert into app_public.units (organization_id, id, parent_id, name) values (${acme}, '${company.room}', '${company.headquarters}', 'Hall')`,
    `delete from app_public.cards`,
  ];

  const tables = [
    'app_hidden.unit_access',
    'app_public.card_assignments',
    'app_public.cards',
    'app_public.units',
    'app_public.users',
  ];
  const derived = `'{ancestor_ids,is_exclusive,card_type,created_at,updated_at,email_lowercase,external_authentication_token_ciphertext,external_authentication_token_hash}'::text[]`;

  /** What the role selects, by PostgreSQL alone. */
  const visibleTo = async (client: PoolClient, principal: string) => {
    await client.query('begin');
    await client.query(`select audit.become(audit.find_principal('${principal}'))`);
    const rows = [];
    for (const table of tables) {
      const columns = (await client.query(readable, [table])).rows[0].columns;
      rows.push(
        ...(
          await client.query(
            `select jsonb_strip_nulls(to_jsonb(r) - 'organization_id' - ${derived})::text as row from (select ${columns} from ${table}) r`,
          )
        ).rows,
      );
    }
    await client.query('rollback');
    return rows.map(({ row }) => row).sort();
  };
  const readable = `select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
    where attrelid = $1::regclass and attnum > 0 and not attisdropped and has_column_privilege(attrelid, attnum, 'select')`;

  const visibleAt = async (principal: string, at: string) => {
    const text = `select (value || case when key ~ '^{' then key::jsonb else jsonb_build_object('id', key) end)::text as row
      from audit.visible_at($1, $2) where relation::text = any ($3)`;
    return (await ask(text, principal, at, tables)).map(({ row }) => row).sort();
  };
});
