import type { PoolClient } from 'pg';
import { createEmptiedDatabase, type EmptiedDatabase } from '../support/emptiedDatabase.ts';
import { sizeOf } from '../support/search.ts';
import { ada, backend, grace, timeAt } from './asOf.ts';
import { company, insertCompany } from './support.ts';

let database: EmptiedDatabase;
beforeAll(async () => {
  database = await createEmptiedDatabase();
});
beforeEach(() => insertCompany(database.owner));
afterEach(() => database.empty());
afterAll(() => database.drop());

const ask = async (statement: string, ...values: unknown[]) => (await database.owner.query(statement, values)).rows;
const now = () => timeAt(database.owner);

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
