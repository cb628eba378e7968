import { randomUUID } from 'node:crypto';
import { Client, Pool } from 'pg';
import { parseHead } from '../../src/commands/audit/history/head.ts';
import { seal } from '../../src/commands/audit/history/seal.ts';
import { verify } from '../../src/commands/audit/history/verify.ts';
import { readCommitted, readLints } from '../../src/database/migrations/committedMigrations.ts';
import { preparePartitions } from '../../src/database/migrations/migrate.ts';
import { isWithoutTransaction } from '../../src/database/migrations/runCommitted.ts';
import { createLog } from '../../src/log.ts';
import { purgeExpired } from '../../src/oauth/purge.ts';
import { asAdministrator } from '../support/database.ts';

/**
 * What 0.x recorded before the history had partitions is one partition of many months, in a database that was carried over.
 * By an owner who is no superuser, on whom row-level security is forced.
 */
describe('a history from before it had partitions', () => {
  const name = `history_${randomUUID().slice(0, 8)}`;
  let owner: Pool;
  let rows: Record<string, unknown>[];

  const changes = 'select id, occurred_at, relation, server_request_id from audit.changes order by id';

  beforeAll(async () => {
    await asAdministrator(`create role ${name} login createrole password 'x'`);
    for (const role of ['app', 'user', 'basic', 'oauth', 'admin', 'helper', 'purger', 'auditor'])
      await asAdministrator(`grant graph_${role} to ${name} with admin option`);
    await asAdministrator(`create database ${name} owner ${name} template template0`);
    const url = new URL(process.env.TEST_OWNER_URL ?? '');
    Object.assign(url, { pathname: `/${name}`, username: name, password: 'x' });
    owner = new Pool({ connectionString: url.href, max: 3 });

    for (const { body } of await readCommitted())
      await owner.query(isWithoutTransaction(body) ? body : `begin; ${body}; commit`);
    for (const { text } of await readLints()) await owner.query(text);
    await owner.query(`
      begin;
      create table audit.changes_before (
        like audit.changes including constraints, constraint changes_before_pkey primary key (subject_id, organization_id, id));
      create policy insert_graph_admin on audit.changes_before for insert to graph_admin with check (true);
      insert into audit.changes_before (id, occurred_at, organization_id, subject_id, relation, row_id, command, columns, role, login)
      select nextval('audit.changes_id_seq'), now() - make_interval(days => days), organization, organization, 'x', organization, 'insert', '{}', 'x', 'x'
      from unnest('{500,300}'::int[]) as days, gen_random_uuid() as organization;
      drop policy insert_graph_admin on audit.changes_before;
      select audit.guard_partition('audit.changes_before');
      create policy delete_graph_admin on audit.changes_before for delete to graph_admin
        using (occurred_at <= statement_timestamp() - (select audit.retention()));
      comment on policy delete_graph_admin on audit.changes_before is 'oauth.purge_changes deletes what is older than audit.retention.';
      do $$
      begin
        execute format('alter table audit.changes attach partition audit.changes_before for values from (minvalue) to (%L)',
          (select min(since) from audit.partitions));
      end
      $$;
      insert into app_hidden.organizations (name) values ('New');
      commit`);
    rows = (await owner.query(changes)).rows;
  });

  afterAll(async () => {
    await owner.end();
    await asAdministrator(`drop database ${name}`);
    await asAdministrator(`drop role ${name}`);
  });

  const asked = async (statement: string) => (await owner.query(statement)).rows;

  it('is the first partition', async () => {
    expect(rows).toHaveLength(3);
    expect(
      (await asked('select partition::text, since from audit.partitions order by since nulls first, 1'))[0],
    ).toMatchObject({ partition: 'audit.changes_before', since: null });
  });

  it('is as guarded as its other partitions', async () => {
    expect(await asked(`select object from audit.findings where object like 'audit.%'`)).toEqual([]);
    expect(
      await asked(`select relacl from pg_class where oid = 'audit.changes_before'::regclass and relacl is not null
        and exists (select from aclexplode(relacl) where grantee <> relowner)`),
    ).toEqual([]);
    await expect(owner.query(`update audit.changes_before set login = 'x'`)).resolves.toMatchObject({ rowCount: 0 });
    await expect(owner.query(`delete from audit.changes where relation = 'x'`)).resolves.toMatchObject({ rowCount: 0 });
  });

  it('gets the indexes that it lacks from db:migrate, beside writers, once', async () => {
    const lacking = `
      select count(*)::int from pg_index p where p.indrelid = 'audit.changes'::regclass
        and not exists (select from pg_inherits i join pg_index own on own.indexrelid = i.inhrelid
          where i.inhparent = p.indexrelid and own.indrelid = 'audit.changes_before'::regclass)`;
    await owner.query('create index changes_relation_idx on only audit.changes (relation, occurred_at)');
    expect(await asked(lacking)).toEqual([{ count: 1 }]);
    const migrator = await owner.connect();
    // One that was interrupted.
    await owner.query('create index changes_before_relation_idx on audit.changes_before (relation, occurred_at)');
    await asAdministratorOf(
      `update pg_index set indisvalid = false where indexrelid = 'audit.changes_before_relation_idx'::regclass`,
    );

    for (let round = 0; round < 2; round += 1) await preparePartitions(migrator, '5s', createLog('silent'));

    migrator.release();
    expect(await asked(lacking)).toEqual([{ count: 0 }]);
    expect(
      await asked(`select indexrelid::regclass::text from pg_index where indrelid in (
        select partition from audit.partitions union all select 'audit.changes'::regclass) and not indisvalid`),
    ).toEqual([]);
  });

  it('loses what is older than 400 days, as its own policy says, and stays as it was sealed', async () => {
    const sealed = { pool: owner, url: '' };
    const head = parseHead((await seal(sealed)).text);
    if (!head) throw new Error('No head');
    const purged = await purgeExpired((statement) => owner.query(statement));

    expect(purged).toMatchObject({ changes: 1, months: 0 });
    const left = await asked(changes);
    expect(left.slice(0, 2)).toEqual(rows.slice(1));
    const verified = await verify(sealed, head);
    expect(verified).toMatchObject({ findings: 0, text: expect.stringContaining('| 1 | are gone with months') });
    await expect(owner.query('delete from audit.changes_before')).resolves.toMatchObject({ rowCount: 0 });
  });

  it('moves what came to the default partition, which its owner cannot change otherwise', async () => {
    await asAdministratorOf(
      `insert into audit.changes (occurred_at, organization_id, subject_id, relation, row_id, command, columns, role, login)
       select now() + interval '300 days', id, id, 'late', id, 'insert', '{}', 'x', 'x' from app_hidden.organizations limit 1`,
    );
    await expect(owner.query('delete from audit.changes_default')).resolves.toMatchObject({ rowCount: 0 });
    const before = await asked(`select * from audit.changes where relation = 'late'`);

    expect(await purgeExpired((statement) => owner.query(statement))).toMatchObject({ newMonths: 1 });

    expect(before).toHaveLength(1);
    expect(await asked(`select * from audit.changes where relation = 'late'`)).toEqual(before);
    expect(await asked('select from audit.changes_default')).toEqual([]);
    expect(
      await asked(`select relforcerowsecurity from pg_class where oid = 'audit.changes_default'::regclass`),
    ).toEqual([{ relforcerowsecurity: true }]);
  });

  it('gives up making months while it is read, and db:migrate goes on', async () => {
    await asAdministratorOf(
      `insert into audit.changes (occurred_at, organization_id, subject_id, relation, row_id, command, columns, role, login)
       select now() + interval '600 days', id, id, 'later', id, 'insert', '{}', 'x', 'x' from app_hidden.organizations limit 1`,
    );
    const reader = await owner.connect();
    await reader.query('begin; select from audit.changes');
    const lines: string[] = [];
    const log = createLog('warn', { write: (line) => lines.push(line) });
    const migrator = await owner.connect();

    await preparePartitions(migrator, '10ms', log);

    expect(lines.map((line) => JSON.parse(line).error.code)).toEqual(['55P03']);
    await reader.query('commit');
    await preparePartitions(migrator, '10ms', log);
    expect(lines).toHaveLength(1);
    expect(await asked('select from audit.changes_default')).toEqual([]);
    for (const client of [reader, migrator]) client.release();
  });

  async function asAdministratorOf(statement: string): Promise<void> {
    const url = new URL(process.env.TEST_OWNER_URL ?? '');
    url.pathname = `/${name}`;
    const client = new Client({ connectionString: url.href });
    await client.connect();
    await client.query(statement);
    await client.end();
  }
});
