import { isDeepStrictEqual } from 'node:util';
import { Client } from 'pg';
import { company, insertCompany } from '../audit/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// What the functions do that a migration, a DBA or a client calls does not depend on the settings of a session or database.

let database: TestDatabase;
/** The results under PostgreSQL's own settings. */
let usual: ReadonlyMap<string, unknown>;
beforeAll(async () => {
  database = await createTestDatabase();
  await insertCompany(database.owner);
  await database.owner.query(`
    create extension ltree;
    create table app_public.things (
      organization_id uuid not null, id uuid not null default app_hidden.uuid_v7(), at timestamptz, during tstzrange, wait interval, ratio float8,
      raw bytea, text text, constraint things_pkey primary key (organization_id, id), constraint things_text check (app_hidden.is_text(text)));
    alter table app_public.things enable row level security, force row level security;
    create policy select_graph_app on app_public.things for select to graph_app
      using (organization_id = (select app_hidden.current_organization_id()) and (text is null or text !~ '\\s{9}') and at is distinct from '2026-02-01 00:00+00');
    grant select on app_public.things to graph_app;
    create table app_public.days (organization_id uuid not null, day date not null, primary key (organization_id, day)) partition by range (day);
    insert into app_public.things values ('${company.acme}', '${company.badge}');
    insert into audit.accepted (kind, object, who, reason) values ('table', 'app_public.things: select on app_public.things', 'graph_app', 'A test.')`);
  usual = await resultsUnder({});
});
afterAll(() => database.drop());

const strange: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'literals and names': {
    ...{
      standard_conforming_strings: 'off',
      escape_string_warning: 'off',
      backslash_quote: 'off',
      quote_all_identifiers: 'on',
    },
    ...{ transform_null_equals: 'on', array_nulls: 'off', search_path: 'pg_temp, "$user"' },
  },
  'texts of values': {
    ...{
      DateStyle: 'SQL, DMY',
      IntervalStyle: 'sql_standard',
      TimeZone: 'Asia/Kolkata',
      bytea_output: 'escape',
      extra_float_digits: '-15',
    },
    ...{
      xmlbinary: 'hex',
      lc_monetary: 'C',
      lc_numeric: 'C',
      lc_time: 'C',
      lc_messages: 'C',
      default_text_search_config: 'pg_catalog.german',
    },
  },
  'other texts of values': {
    DateStyle: 'German',
    TimeZone: 'America/St_Johns',
    IntervalStyle: 'iso_8601',
    extra_float_digits: '0',
  },
  'rights and transactions': {
    ...{
      row_security: 'off',
      default_transaction_isolation: 'read uncommitted',
      default_table_access_method: 'heap',
      check_function_bodies: 'off',
    },
    ...{ 'plpgsql.variable_conflict': 'use_column', 'plpgsql.extra_errors': 'all', 'plpgsql.extra_warnings': 'none' },
    ...{
      enable_seqscan: 'off',
      enable_hashjoin: 'off',
      plan_cache_mode: 'force_custom_plan',
      jit: 'off',
      default_statistics_target: '1',
    },
  },
};

test.each(Object.entries(strange))('%s', async (_, settings) => {
  const results = await resultsUnder(settings);

  const differing = [...usual.keys()].filter((call) => !isDeepStrictEqual(results.get(call), usual.get(call)));
  expect(differing.map((call) => [call, results.get(call)])).toEqual(differing.map((call) => [call, usual.get(call)]));
});

test('each function that can be called is called', async () => {
  const { rows } = await database.owner.query<{ name: string }>(`
    select distinct format('%s.%s', n.nspname, p.proname) as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('audit', 'feed', 'app_hidden') and p.prorettype <> 'trigger'::regtype order by 1`);
  const all = Object.entries(calls).flat(2).join('\n');

  expect([...usual].filter(([, result]) => String(result).startsWith('error:'))).toEqual([]);
  const missing = rows
    .map(({ name }) => name)
    .filter((name) => !all.includes(`${name}(`) && !innerFunctions.includes(name));
  expect(missing).toEqual([]);
  expect(usual.size).toBe(Object.keys(calls).length);
});

/** Each in a new session, whose plans and settings no other one shares. */
async function resultsUnder(settings: Readonly<Record<string, string>>): Promise<ReadonlyMap<string, unknown>> {
  const client = new Client({ connectionString: database.ownerUrl });
  await client.connect();
  const names = Object.keys(settings).map((name) =>
    name
      .split('.')
      .map((part) => client.escapeIdentifier(part))
      .join('.'),
  );
  try {
    for (const [index, value] of Object.values(settings).entries()) {
      const setTo =
        names[index] === '"search_path"' || names[index] === '"DateStyle"' ? value : client.escapeLiteral(value);
      await client.query(`set ${names[index]} to ${setTo}`);
    }
    const results = new Map<string, unknown>();
    for (const [call, statements] of Object.entries(calls)) {
      await client.query('begin');
      try {
        await client.query(`select set_config('graph.organization_id', '${company.acme}', true)`);
        for (const statement of statements) await client.query(statement);
        const isRead = call.startsWith(afterwards);
        const settle = ['set local role none', ...names.map((name) => `set local ${name} to default`)].join('; ');
        if (isRead) await client.query(settle);
        await client.query(`create temporary table result on commit drop as ${call}`);
        await client.query(settle);
        const { rows } = await client.query(
          'select jsonb_agg(to_jsonb(r) order by to_jsonb(r)::text) as result from pg_temp.result r',
        );
        results.set(call, rows[0].result);
      } catch (error) {
        results.set(call, String(error));
      } finally {
        await client.query('rollback');
      }
    }
    return results;
  } finally {
    await client.end();
  }
}

const { acme, ada, room, headquarters, badge } = company;
/** Of a query that shows what statements before it have made, by the usual settings. */
const afterwards = 'select /* afterwards */';
const triggers = (table: string) =>
  `${afterwards} pg_get_triggerdef(t.oid) as trigger from pg_trigger t where t.tgrelid = '${table}'::regclass and not t.tgisinternal`;
const values =
  "'2026-01-02 03:04+00', '[2026-01-02 03:04+00,2026-02-03 03:04+00)', '1 mon -2 days', 0.1, '\\\\x00ff', 'a'";
const change = [
  `insert into app_public.things (organization_id, id, at, during, wait, ratio, raw, text) values ('${acme}', '${room}', ${values.replaceAll("'\\\\", "e'\\\\")})`,
  `update app_public.things set ratio = ratio + 1e-16 * 2, raw = e'\\\\x01', text = 'b' where id = '${room}'`,
  `delete from app_public.things where id = '${room}'`,
];
const principal = "audit.find_principal('app:acme-backend')";
const ofHistory = `${afterwards} c.relation, c.command, c.columns, c.before, c.after from audit.changes c`;
const ofThing = `jsonb_build_object('id', '${badge}')`;

/** Statements before, and a query of what comes of it. */
const calls: Readonly<Record<string, readonly string[]>> = {
  // What migrations call.
  [triggers('app_public.things')]: [
    "select audit.record('app_public.things', secrets => '{raw}'), feed.follow('app_public.things', ignored => '{text}')",
  ],
  [`${triggers('app_public.days')} and true`]: [
    "select audit.record('app_public.days', subject_id => 'organization_id', row_id => 'organization_id'), feed.follow('app_public.days')",
  ],
  [`${triggers('app_public.users')} and true`]: [
    "select audit.record('app_public.users'), feed.follow('app_public.users')",
  ],
  [`${ofHistory} where c.relation = 'app_public.things'`]: ["select audit.record('app_public.things')", ...change],
  "select /* afterwards */ c.relation, c.key, c.operation, c.columns from feed.changes c where c.relation = 'app_public.things'":
    ["select feed.follow('app_public.things')", ...change],
  "select /* afterwards */ p.polname, pg_get_expr(p.polqual, p.polrelid), obj_description(p.oid) from pg_policy p where p.polname = 'record_reads'":
    ["select audit.record_reads('app_public.things', 0.1)"],
  [`${ofHistory} where c.command = 'backfill'`]: [
    "select audit.record('app_public.things'), audit.backfill('app_public.things', 'A test', 'update app_public.things set ratio = 1')",
  ],
  "select c.* from audit.columns_of('app_public.things'::regclass, 's', audit.shape_of('app_public.days'::regclass), null) c":
    ["select audit.record('app_public.things', secrets => '{raw}')"],
  "select app_hidden.is_backfill('app_public.things'::regclass)": [],
  [`${ofHistory} where c.command = 'select'`]: ["select audit.record_read('app_public.things', 1)"],
  'select f.followed from feed.followed() as f (followed)': [],
  "select p.partition, p.since, p.until from audit.partitions_of('feed.changes') p": [
    "select feed.create_partition('2031-03-04')",
  ],
  "select p.partition, p.since, p.until from audit.partitions_of('audit.changes') p": [
    "select audit.create_partition('2031-03-01 00:00+00')",
  ],
  'select audit.create_partitions()': [],
  'select r.days, r.new_days from feed.rotate_partitions() r': [],
  "select /* afterwards */ c.relrowsecurity, c.relforcerowsecurity from pg_class c where c.oid = 'app_public.things'::regclass":
    ["select audit.guard_partition('app_public.things')"],
  'select a.hash from audit.accepted a': [],
  // Who can see or change what.
  [`select w.* from audit.who_can('app_public.things', '${badge}') w`]: [],
  [`select w.* from audit.who_can('app_public.units', '${room}') w where audit.retention() > interval '1 day' and feed.retention() > interval '1 day'`]:
    [],
  [`select e.* from audit.explain_access('me:ada@acme.test', 'app_public.units', '${room}') e`]: [],
  [`select e.* from audit.explain_access('app:acme-backend', 'app_public.things', '${badge}') e`]: [],
  "select v.* from audit.visible('app:acme-backend') v": [],
  [`select w.* from audit.who_could('app_public.units', '${room}', now()) w`]: [],
  "select v.relation, v.key, v.value from audit.visible_at('app:acme-backend', now()) v where v.relation <> 'oauth.applications'::regclass":
    [],
  [`select e.step, e.id, e.name, e.detail, e.holds from audit.explain_decision('app:acme-backend', '{"unit_id": "${room}", "user_id": "${ada}", "at": "2026-01-02T03:04Z"}') e`]:
    [],
  [`select audit.find_row('app_public.things', '${badge}')`]: [
    `update app_public.things set (at, during, wait, ratio, raw, text) = (${values.replaceAll("'\\\\", "e'\\\\")}) where id = '${badge}'`,
  ],
  [`select audit.condition_of('app_public.things', ${ofThing})`]: [],
  [`select audit.asks_organization(c, r.role), audit.known_readers(c, audit.find_row('app_public.units', '${room}'), r.role) from unnest(array['app_public.things', 'app_public.units']::regclass[]) as c, audit.request_roles r where audit.is_as_shipped('current_organization_id', 'x') is not null`]:
    [],
  "select /* afterwards */ has_column_privilege('graph_basic', 'app_public.things', 'id', 'select') as found": [
    "select audit.let_find('app_public.things', 'graph_basic')",
  ],
  "select c.part from audit.conjuncts('((a = ''\\x'') AND (b))') as c (part)": [
    'set local standard_conforming_strings to default',
  ],
  [`select c.* from (select ${principal}) as p (p), unnest(array['select', 'update', 'insert']) as command, audit.attempt(p, 'app_public.units', audit.find_row('app_public.units', '${room}'), command) as c`]:
    [],
  [`select audit.holds(${principal}, 'app_public.units', audit.find_row('app_public.units', '${room}'), 'name = ''Room''')`]:
    [],
  [`select audit.reason_of(audit.find_principal('me:${ada}'), 'app_public.units', audit.find_row('app_public.units', '${room}'))`]:
    [],
  [`select s.principal from audit.seeing('app_public.units', audit.find_row('app_public.units', '${room}'), 'graph_user') s`]:
    [],
  "select current_setting('graph.scope') as scope, current_setting('graph.application_id') as application": [
    `select audit.become(${principal})`,
    'set local role none',
  ],
  'select /* afterwards */ u.name, u.ancestor_ids from app_public.units u': [`select audit.rebuild(now(), '${acme}')`],
  // What lints are made of.
  "select a.object, a.who, audit.hash_of(a.object, a.who), (select count(*) from audit.judged(a.object, a.who)) from audit.accepted a where a.kind in ('invariant', 'definer')":
    [],
  "select p.polname, audit.outside_subqueries(e), audit.compares_organization(e), audit.is_always_true(e) from pg_policy p, replace(pg_get_expr(p.polqual, p.polrelid), chr(92), '') as e":
    [
      'set local quote_all_identifiers to off',
      "set local search_path to ''",
      'set local timezone to default',
      'set local intervalstyle to default',
      'set local datestyle to default',
    ],
  'select p.polname, audit.parts_without_organization(p.oid) from pg_policy p': [],
  "select r.* from audit.rights_in('select u.full_name from \"app_public\".users u for update; insert into app_public.cards (name) values (app_hidden.trimmed(''a'')) on conflict do nothing') r":
    [],
  'select u.role, u.command, u.object, u.part from audit.uses u': [
    "select oauth.note_uses('{graph_app}', '{select name from app_public.units}')",
  ],
  'select u.role, u.kind, u.command, u.object, u.part, u.rule from audit.unused(current_date) u': [],
  // The feed.
  'select json_build_array(f.horizon is null, f.id is null) as results from feed.last_change() f': [],
  'select count(*) from feed.changes_after(pg_current_xact_id(), 0, 10)': [],
  [`select feed.changed_since(array['${acme}']::uuid[], array[pg_current_xact_id()], array[0::bigint]), feed.origin(), feed.oldest(), feed.next_horizon(array['${acme}']::uuid[]) >= pg_current_xact_id()`]:
    [],
  'select p.origin, p.oldest from feed.position() p': [],
  "select feed.identifying('app_public.days'::regclass, array['organization_id', 'day']), feed.ignored('app_public.days'::regclass, '0'), app_hidden.has_row_trigger('app_public.days'::regclass, 'follow_row')":
    [],
  'select a.row_id, a.columns, a.before, a.after, f.operation, f.columns as fields from (select \'{"id": "a", "b": 1}\'::jsonb as old, \'{"id": "a", "b": null}\'::jsonb as new) v, audit.entry_of(row (\'{}\', \'{}\', null, \'{id}\', true), v.old, v.new) a, feed.entries_of(\'[0:4]={app_public.units,"",0,"{}",id}\', \'{}\', \'{id}\', v.old, v.new) f':
    [],
  'select w.organization_id from feed.due_webhooks(10) w': [],
  // What clients' statements call.
  "select json_build_array(app_hidden.white_space(), app_hidden.trimmed(' a' || chr(8203) || chr(65279)), app_hidden.lowercase('ÄI'), app_hidden.is_text('a.b'), app_hidden.is_text('a' || chr(9) || 'b'), app_hidden.is_text('u0001-')) as results":
    [],
  "select app_hidden.time_zone_key('St. John’s'), app_hidden.is_time_zone('new york'), (select n.nearest from app_hidden.nearest_time_zones('{Berln}') n), (select t.problem from app_hidden.time_zone_problems('{Berln}') t)":
    [],
  'select json_build_array(app_hidden.current_organization_id(), app_hidden.current_application_id(), app_hidden.current_user_id(), app_hidden.current_moment() = statement_timestamp(), app_hidden.granted_unit_ids(), app_hidden.uuid_v7() is null, app_hidden.count_row()) as results':
    [],
  [`select f.* from app_hidden.first_accessible_unit_ids('${ada}', 10, null) f`]: [],
  [`select app_hidden.find_user('${ada}', null), app_hidden.lock_user('${ada}', null), app_hidden.find_unit('${room}', null), app_hidden.find_card('${badge}', null), app_hidden.is_served('${acme}'), app_hidden.require_service('${acme}')::text, app_hidden.move_lock('${acme}'), app_hidden.moving_organization_ids(), app_hidden.arrived_at()`]:
    [],
  "select app_hidden.lock_organization()::text, app_hidden.lock_units()::text, app_hidden.lock_value('units_name_key', 'a')::text, app_hidden.require_one('id', true, false)::text, app_hidden.require_values('{a}', '{a}', '{b}')::text, app_hidden.one_time_zone('Berlin', null)":
    [],
  [`select d.* from app_hidden.decide_access(array[row ('${room}', null, '${ada}', null, null, null, null, null, '2026-01-02 03:04+00')::app_hidden.access_question]) d`]:
    [],
  "select c.state from app_hidden.claim_idempotency_key(sha256('a')) c": [
    `select set_config('graph.application_id', '${company.backend}', true)`,
  ],
  "select l.objid, l.classid from pg_locks l where l.locktype = 'advisory' and l.pid = pg_backend_pid()": [
    `select set_config('graph.application_id', '${company.backend}', true), app_hidden.claim_idempotency_key(sha256('a'))`,
  ],
  "select app_hidden.refusal_of(k.oid) from pg_constraint k where k.conrelid = 'app_public.users'::regclass and k.contype in ('c', 'u')":
    [],
  'select app_hidden.broken_checks(array(select u from app_public.users u)), app_hidden.depths_below(array[null, 1])':
    [],
  'select s.external_identifier, s.outcome, s.error from app_public.users_sync(array[\'{"externalIdentifier": "a b", "fullName": "A", "email": "a@b.test"}\', \'{"externalIdentifier": "c", "fullName": " ", "email": "c"}\']::jsonb[]) s':
    [],
  'select s.external_identifier, s.outcome, s.error from app_public.units_sync(array[\'{"externalIdentifier": "a b", "name": "A"}\']::jsonb[]) s':
    [],
  'select s.external_identifier, s.outcome, s.error from app_public.cards_sync(array[\'{"externalIdentifier": "a b", "name": "A", "type": "NfcCard", "nfcIdentifier": "04A224B2C13A80"}\']::jsonb[]) s':
    [],
  "select u.full_name, u.email, u.time_zone from app_public.user_create(' Ann ', 'ann@acme.test') u": [],
  "select u.name from app_public.unit_create('New') u": [],
  "select app_hidden.has_webhook_charge(), app_hidden.take_webhook_charge(), app_hidden.see_webhook_directory('a')::text":
    [],
  "select n.salt, n.checksum from app_hidden.note_secret_key(substr(sha256('a'), 1, 16), sha256('b')) n": [],
  [`select ${headquarters.length} as n, app_hidden.row_values(t) ->> 'text' from app_public.things t`]: [],
};

/** Parts of those that are called above, or that need what a test of their own makes. */
const innerFunctions = [
  ...[
    'audit.recorded_values',
    'audit.refill',
    'app_hidden.require_access_token',
    'app_hidden.require_replayed',
    'app_hidden.free_token_hash',
  ],
  ...['app_hidden.judge_users', 'app_hidden.unique_values', 'app_hidden.refuse_users', 'app_hidden.write_users'],
  ...[
    'app_hidden.judge_units',
    'app_hidden.write_units',
    'app_hidden.card_refusal',
    'app_hidden.judge_cards',
    'app_hidden.identity_of',
  ],
  ...['app_hidden.refuse_cards', 'app_hidden.write_cards'],
];
