import { findingsHere, undone } from '../audit/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** For each lint a migration that it must find, and where. */
const violations: Record<string, { statement: string; object: string }> = {
  row_security_off: {
    statement: 'alter table app_public.cards disable row level security',
    object: 'app_public.cards',
  },
  row_security_not_forced: {
    statement: 'alter table app_public.cards no force row level security',
    object: 'app_public.cards',
  },
  definer_function: {
    statement: 'alter function app_hidden.granted_unit_ids() security definer',
    object: 'app_hidden.granted_unit_ids()',
  },
  definer_view: {
    statement: 'alter view app_public.access_grants set (security_invoker = false)',
    object: 'app_public.access_grants',
  },
  materialized_view: {
    statement: 'create materialized view app_public.everybody as select * from app_public.users',
    object: 'app_public.everybody',
  },
  foreign_table: {
    statement: `
      create foreign data wrapper nothing;
      create server elsewhere foreign data wrapper nothing;
      create foreign table app_public.elsewhere (id int) server elsewhere`,
    object: 'app_public.elsewhere',
  },
  policy_without_row_security: {
    statement: 'alter table app_public.cards disable row level security',
    object: 'select_graph_app on app_public.cards',
  },
  row_security_without_policy: {
    statement:
      'create table app_public.lint_example (id int primary key); alter table app_public.lint_example enable row level security',
    object: 'app_public.lint_example',
  },
  policy_for_everybody: {
    statement: 'alter policy select_graph_app on app_public.cards to public',
    object: 'select_graph_app on app_public.cards',
  },
  policy_always_true: {
    statement: 'alter policy insert_graph_app on app_public.users with check (true)',
    object: 'insert_graph_app on app_public.users',
  },
  policy_without_check: {
    statement: `create policy update_graph_app on app_public.card_assignments for update to graph_app
                using (organization_id = (select app_hidden.current_organization_id()))`,
    object: 'update_graph_app on app_public.card_assignments',
  },
  policy_without_comment: {
    statement: 'comment on policy select_graph_app on app_public.cards is null',
    object: 'select_graph_app on app_public.cards',
  },
  several_permissive_policies: {
    statement: 'create policy more on app_public.cards for select to graph_app using (false)',
    object: 'app_public.cards',
  },
  claim_for_each_row: {
    statement: `alter policy select_graph_app on app_public.cards
                using (organization_id = app_hidden.current_organization_id())`,
    object: 'select_graph_app on app_public.cards',
  },
  literal_in_policy: {
    statement: `alter policy select_graph_app on app_public.cards
                using (organization_id = '00000000-0000-7000-8000-000000000001')`,
    object: 'select_graph_app on app_public.cards',
  },
  policy_reads_unprotected_table: {
    statement: 'alter table app_public.card_assignments disable row level security',
    object: 'select_graph_user on app_public.cards',
  },
  policy_column_without_index: {
    statement: `alter policy select_graph_app on app_public.cards using (
                  organization_id = (select app_hidden.current_organization_id()) and type = (select app_hidden.current_user_id())::text)`,
    object: 'select_graph_app on app_public.cards',
  },
  search_path_mutable: {
    statement: 'alter function app_hidden.lock_user(uuid, text) reset all',
    object: 'app_hidden.lock_user(uuid,text)',
  },
  function_for_everybody: {
    statement: 'grant execute on function app_hidden.lock_user(uuid, text) to public',
    object: 'app_hidden.lock_user(uuid,text)',
  },
  setting_must_exist: {
    statement: `create or replace function app_hidden.current_user_id() returns uuid language sql stable
                as $$ select nullif(current_setting('graph.user_id'), '')::uuid $$`,
    object: 'app_hidden.current_user_id()',
  },
  claim_kept_in_plan: {
    statement: 'alter function app_hidden.current_user_id() immutable',
    object: 'app_hidden.current_user_id()',
  },
  no_primary_key: {
    statement: 'create table app_public.lint_example (id int)',
    object: 'app_public.lint_example',
  },
  foreign_key_without_index: {
    statement: 'drop index app_public.card_assignments_user_id_idx',
    object: 'card_assignments_user_id_fkey on app_public.card_assignments',
  },
  same_index_twice: {
    statement: 'create index again on app_public.users (organization_id, full_name, id)',
    object: 'app_public.again, app_public.users_full_name_idx',
  },
  unique_across_organizations: {
    statement: 'create unique index users_email_everywhere_key on app_public.users (email_lowercase)',
    object: 'app_public.users_email_everywhere_key',
  },
  reference_across_organizations: {
    statement: `alter table app_public.cards add unique (id);
                alter table app_public.card_assignments add constraint crossing foreign key (card_id) references app_public.cards (id)`,
    object: 'crossing on app_public.card_assignments',
  },
  reference_sets_organization: {
    statement: `create table app_public.doors (organization_id uuid not null, id uuid not null, unit_id uuid, primary key (organization_id, id),
                  constraint nulling foreign key (organization_id, unit_id) references app_public.units on delete set null)`,
    object: 'nulling on app_public.doors',
  },
  reference_of_two_collations: {
    statement: `alter table app_public.units add unique (organization_id, name);
                create table app_public.doors (organization_id uuid not null, id uuid not null, unit_name text collate "POSIX", primary key (organization_id, id),
                  constraint named foreign key (organization_id, unit_name) references app_public.units (organization_id, name))`,
    object: 'named on app_public.doors',
  },
  type_that_hinders_upgrades: {
    statement: 'alter table app_public.cards add column opens regproc',
    object: 'app_public.cards.opens',
  },
  privilege_for_everybody: {
    statement: 'create sequence app_public.numbers; grant usage on sequence app_public.numbers to public',
    object: 'app_public.numbers',
  },
  default_privilege_for_everybody: {
    statement: 'alter default privileges in schema app_public grant select on tables to public',
    object: 'tables of postgres',
  },
  secret_readable: {
    statement: 'grant select on oauth.credentials to graph_app',
    object: 'oauth.credentials.password_hash',
  },
};

describe('audit.lints', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(async () => {
    await database.drop();
  });

  it('finds nothing in the schema as it is, and nor do the findings', async () => {
    const { rows } = await database.owner.query(findingsHere);

    expect(rows).toEqual([]);
  });

  it.each(Object.entries(violations))('finds %s', async (name, { statement, object }) => {
    const connection = await database.owner.connect();
    try {
      await connection.query('begin');
      await connection.query(statement);
      const { rows } = await connection.query(`select name, object from audit.lints where name = '${name}'`);

      expect(rows).toContainEqual({ name, object });
    } finally {
      await connection.query('rollback');
      connection.release();
    }
  });

  it.each([
    ['before the permissive one', 'organization_id', 'user_id', 0],
    ['in an index of its own', 'organization_id, id', 'organization_id, user_id', 0],
    ['that no index has', 'id', 'user_id', 1],
  ])('takes a column of a restrictive policy %s', async (_what, first, second, count) => {
    const policy = (name: string, kind: string, expression: string) =>
      `create policy ${name} on app_public.lint_example as ${kind} for ${kind === 'restrictive' ? 'all' : 'select'} to graph_user using (${expression})`;
    const found = await undone(
      database.owner,
      'create table app_public.lint_example (organization_id uuid, id uuid, user_id uuid)',
      'alter table app_public.lint_example enable row level security, force row level security',
      policy('tenant', 'restrictive', 'organization_id = (select app_hidden.current_organization_id())'),
      policy('own', 'permissive', 'user_id = (select app_hidden.current_user_id())'),
      `create index on app_public.lint_example (${first}, ${second === 'user_id' ? second : 'id'})`,
      `create index on app_public.lint_example (${second})`,
      `select object from audit.lints where name = 'policy_column_without_index'`,
    );

    expect(found).toHaveLength(count);
  });

  it('are among the findings', async () => {
    const [{ statement = '', object = '' } = {}] = Object.values(violations);

    const found = await undone(database.owner, statement, 'select name, object from audit.findings');

    for (const name of ['row_security_off', 'policy_without_row_security']) {
      const place = name === 'row_security_off' ? object : expect.stringContaining(`on ${object}`);
      expect(found).toContainEqual({ name, object: place });
    }
  });

  it('has a violation of each lint here', async () => {
    const { rows } = await database.owner.query<{ name: string }>(
      `select distinct match[1] as name
       from regexp_matches(
         pg_get_viewdef('audit.lints'::regclass),
         '''([a-z_]+)''::text(?:\\s+AS "?\\w+"?)?,\\s*''(?:error|warning|info)''::text', 'g') as match`,
    );
    const ofBypasses = ['row_security_off', 'row_security_not_forced', 'definer_function', 'definer_view'];
    const names = [...rows.map(({ name }) => name), ...ofBypasses, 'materialized_view', 'foreign_table'];

    expect(names.sort()).toEqual(Object.keys(violations).sort());
  });

  it('accepts what an administrator accepts, and takes claims that are computed once', async () => {
    const connection = await database.owner.connect();
    try {
      await connection.query('begin');
      await connection.query('create table app_public.lint_example (id int)');
      await connection.query(
        `insert into audit.accepted (kind, object, who, reason) values ('no_primary_key', 'app_public.lint_example', '', 'For a test.')`,
      );
      await connection.query(
        `alter policy select_graph_app on app_public.cards using (
           organization_id = (select nullif(current_setting('graph.organization_id', true), '')::uuid)
           and exists (select from app_public.card_assignments a where a.card_id = cards.id and a.user_id = app_hidden.current_user_id()))`,
      );
      const { rows } = await connection.query(
        `select name, detail from audit.findings where name in ('no_primary_key', 'claim_for_each_row')`,
      );

      expect(rows).toEqual([{ name: 'claim_for_each_row', detail: 'computes current_user_id for each row' }]);
    } finally {
      await connection.query('rollback');
      connection.release();
    }
  });
});
