import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** Whether a namespace is one of this service's. */
const ours = (namespace: string) =>
  `${namespace} in (select oid from pg_namespace where nspname !~ '^(pg_|information_schema|graphile_)')`;

/** Each policy and privilege is in its object's golden file. Here is what holds for all of them. */
describe('the permissions of the database', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(async () => {
    await database.drop();
  });

  const lines = async (statement: string): Promise<string[]> => {
    const { rows } = await database.owner.query({ text: statement, rowMode: 'array' });
    return rows.map(([line]) => String(line));
  };

  it('let administration alone accept a finding', async () => {
    const writers = `
      select distinct r.rolname::text from pg_roles r cross join unnest('{insert,update,delete,truncate}'::text[]) as command
      where r.rolname ~ '^graph_' and has_table_privilege(r.oid, 'audit.accepted', command) order by 1`;
    expect(await lines(writers)).toEqual(['graph_admin']);
    const functions = `
      select f.name from audit.functions f join pg_proc p on p.oid = f.function
      where f.definer and p.prosrc ~ 'audit\\.accepted'`;
    expect(await lines(functions)).toEqual([]);
  });

  it('are policies that each say in words what they do', async () => {
    const silent = `
      select format('%s on %s', p.polname, p.polrelid::regclass) from pg_policy p
      join pg_class c on c.oid = p.polrelid
      where ${ours('c.relnamespace')} and coalesce(obj_description(p.oid, 'pg_policy'), '') !~ '\\.$'`;
    expect(await lines(silent)).toEqual([]);
  });

  it('hold on every table, for its owner, too', async () => {
    const unprotected = `
      select c.oid::regclass from pg_class c
      where c.relkind in ('r', 'p', 'm', 'f') and ${ours('c.relnamespace')}
        and not (c.relrowsecurity and c.relforcerowsecurity)`;
    expect(await lines(unprotected)).toEqual([]);
    const notInvoking = `
      select c.oid::regclass from pg_class c
      where c.relkind = 'v' and ${ours('c.relnamespace')} and c.reloptions @> '{security_invoker=true}'
        is not true`;
    expect(await lines(notInvoking)).toEqual([]);
  });

  it('cannot be passed by: no request role owns anything or has a power of its own', async () => {
    const requestRoles = `(
      select oid from pg_roles where rolname = 'graph_authenticator' or oid in (select role_id from audit.request_roles))`;
    expect(await lines(`select count(*) from ${requestRoles} as found`)).toEqual(['6']);
    const owned = `
      select d.classid::regclass || ' ' || d.objid from pg_shdepend d
      where d.deptype = 'o' and d.refclassid = 'pg_authid'::regclass and d.refobjid in ${requestRoles}`;
    expect(await lines(owned)).toEqual([]);
    const powers = `
      select rolname from pg_roles
      where (oid in ${requestRoles} or rolname in ('graph_admin', 'graph_helper', 'graph_purger'))
        and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication)`;
    expect(await lines(powers)).toEqual([]);
    const memberships = `
      select member.rolname || ' in ' || r.rolname
      from pg_auth_members m join pg_roles r on r.oid = m.roleid join pg_roles member on member.oid = m.member
      where m.member in ${requestRoles} and member.rolname <> 'graph_authenticator'
         or r.rolname in ('graph_admin', 'graph_helper', 'graph_purger') and member.rolname = 'graph_authenticator'`;
    expect(await lines(memberships)).toEqual([]);
  });

  it("let few functions run with their owner's rights, each by a pinned search path, none for everybody", async () => {
    const definers = `
      select p.oid::regprocedure || ' as ' || p.proowner::regrole
      from pg_proc p where p.prosecdef and ${ours('p.pronamespace')} order by 1`;
    const recorders = (schema: string) =>
      ['record_row', 'record_rows', 'record_updates'].map((name) => `${schema}.${name}() as graph_helper`);
    expect(await lines(definers)).toEqual([
      'app_hidden.arrived_at() as graph_helper',
      'app_hidden.count_idempotency_key() as graph_helper',
      'app_hidden.is_served(uuid) as graph_helper',
      'app_hidden.note_secret_key(bytea,bytea) as graph_helper',
      'app_hidden.require_access_token(bytea) as graph_helper',
      'app_hidden.units_delete_ancestors() as graph_helper',
      'app_hidden.units_insert_ancestors() as graph_helper',
      'app_hidden.units_move_subtrees() as graph_helper',
      'audit.erase_person() as graph_helper',
      'audit.record_read(text,double precision) as graph_helper',
      ...recorders('audit'),
      'feed.changed_since(uuid[],xid8[],bigint[]) as graph_helper',
      ...recorders('feed'),
      // The owner of the change feed: only that may make or drop a partition of it.
      'feed.rotate_partitions() as postgres',
      'oauth.find_application(text) as graph_helper',
      'oauth.note_uses(text[],text[]) as graph_helper',
      // The owner of the partitions.
      'oauth.partition_state() as postgres',
      // The owner of the history, for the same reason.
      'oauth.purge_changes(integer) as postgres',
      'oauth.purge_rows(text,integer) as graph_purger',
      'oauth.purge_tokens(integer) as graph_purger',
      'oauth.verify_access_token(bytea) as graph_helper',
      'oauth.written_lsn(uuid,uuid) as graph_helper',
    ]);
    const paths = `
      select distinct setting from pg_proc p left join lateral unnest(p.proconfig) as setting on setting like 'search_path=%'
      where p.prosecdef and ${ours('p.pronamespace')}`;
    expect(await lines(paths)).toEqual(['search_path=pg_catalog, pg_temp']);
    const forEverybody = `
      select p.oid::regprocedure from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) acl
      where ${ours('p.pronamespace')} and acl.grantee = 0`;
    expect(await lines(forEverybody)).toEqual([]);
  });

  it('give nothing to everybody, now or by default', async () => {
    const tables = `
      select c.oid::regclass from pg_class c, aclexplode(c.relacl) acl where ${ours('c.relnamespace')} and acl.grantee = 0`;
    const columns = `
      select a.attrelid::regclass from pg_attribute a join pg_class c on c.oid = a.attrelid, aclexplode(a.attacl) acl
      where ${ours('c.relnamespace')} and acl.grantee = 0`;
    const schemas = `
      select n.nspname from pg_namespace n, aclexplode(n.nspacl) acl
      where ${ours('n.oid')} and acl.grantee = 0 and (n.nspname, acl.privilege_type) <> ('public', 'USAGE')`;
    expect([...(await lines(tables)), ...(await lines(columns)), ...(await lines(schemas))]).toEqual([]);
    await database.owner.query(
      'create function app_hidden.made_by_this_test() returns int language sql as $$ select 1 $$',
    );
    const executable = "select has_function_privilege('graph_app', 'app_hidden.made_by_this_test()', 'execute')";
    expect(await lines(executable)).toEqual(['false']);
    await database.owner.query('drop function app_hidden.made_by_this_test()');
  });

  it('keep every reference inside of one organization', async () => {
    const crossing = `
      select c.conrelid::regclass || '.' || c.conname
      from pg_constraint c
      where c.contype = 'f' and ${ours('c.connamespace')}
        and exists (select from pg_attribute a where a.attrelid = c.confrelid and a.attname = 'organization_id')
        and not exists (
          select from unnest(c.conkey, c.confkey) as pair (own, other)
          join pg_attribute a on a.attrelid = c.conrelid and a.attnum = pair.own and a.attname = 'organization_id'
          join pg_attribute b on b.attrelid = c.confrelid and b.attnum = pair.other and b.attname = 'organization_id')`;
    expect(await lines(crossing)).toEqual([]);
    // What has no organization: the organizations themselves, and what has no owner.
    const shared = `
      select c.oid::regclass::text from pg_class c
      where c.relkind in ('r', 'p') and ${ours('c.relnamespace')}
        and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'organization_id')
      order by 1`;
    expect(await lines(shared)).toEqual([
      'app_hidden.organizations',
      'app_hidden.secret_key_check',
      'app_hidden.time_zones',
      'app_hidden.webhook_charge',
      'audit.accepted',
      'audit.invariants',
      'audit.seals',
      'audit.uses',
      'oauth.throttles',
    ]);
    const keys = `
      select i.indexrelid::regclass::text from pg_index i join pg_class c on c.oid = i.indrelid
      where i.indisunique and c.relkind in ('r', 'p') and ${ours('c.relnamespace')}
        and not exists (
          select from unnest(i.indkey) as key (number)
          join pg_attribute a on a.attrelid = i.indrelid and a.attnum = key.number and a.attname = 'organization_id')
      order by 1`;
    // A client is known by its id before its organization is; a session by a hash that no client can choose.
    expect(await lines(keys)).toEqual([
      'app_hidden.organizations_name_key',
      'app_hidden.organizations_pkey',
      'app_hidden.secret_key_check_pkey',
      'app_hidden.time_zones_pkey',
      'app_hidden.webhook_charge_pkey',
      'audit.accepted_pkey',
      'audit.invariants_pkey',
      'audit.seals_pkey',
      'audit.uses_pkey',
      'oauth.applications_client_id_key',
      'oauth.sessions_sid_key',
      'oauth.throttles_pkey',
    ]);
  });
});
