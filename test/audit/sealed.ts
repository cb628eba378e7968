import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { audit, company, insertCompany } from './support.ts';

/**
 * A database with a history of two organizations and its seal. Two months are older than the retention, one change was rolled back, and
 * Konrad was deleted. Tests work on copies of it.
 */
export async function createSealed(): Promise<{ sealed: TestDatabase; head: string }> {
  const sealed = await createTestDatabase();
  await insertCompany(sealed.owner);
  await sealed.owner.query(`
    ${insertOld(600, 570, 100)};
    select audit.create_partitions();
    delete from app_public.users where id = '${company.konrad}';`);
  await sealed.owner.query(`begin; ${rename('Nobody')}; rollback`);
  await sealed.owner.query(rename('Ada L.'));
  await sealed.owner.query(rename('Ada M.'));
  return { sealed, head: await seal(sealed) };
}

function insertOld(...days: number[]): string {
  return `insert into audit.changes (occurred_at, organization_id, subject_id, relation, row_id, command, columns, role, login)
    select now() - make_interval(days => days), '${company.acme}', id, 'app_public.units', id, 'insert', '{}', 'x', 'x'
    from unnest('{${days}}'::int[]) as days, gen_random_uuid() as id`;
}

export function rename(name: string): string {
  return `update app_public.users set full_name = '${name}' where id = '${company.ada}'`;
}

/** @returns the head */
export async function seal(database: TestDatabase): Promise<string> {
  const { code, stdout, error } = await audit(database, 'seal');
  expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(stdout).toMatch(/^[1-9]\d*-[0-9a-f]{64}$/);
  return stdout;
}

export const verify = (database: TestDatabase, head: string) => audit(database, 'verify', '--head', head);

export async function expectIntact(database: TestDatabase, head: string): Promise<string> {
  const { code, stdout } = await verify(database, head);
  expect(stdout).toContain('Nothing was changed, removed, inserted or reordered.');
  expect(code).toBe(0);
  return stdout;
}

/** As a superuser may: no trigger runs, no policy holds. */
export const tamper = ({ owner }: TestDatabase, statements: string) =>
  owner.query(`begin; set local session_replication_role = replica; ${statements}; commit`);

/** Ada's names; `second` is the newest entry. */
export const isRename = (name: string) => `after ->> 'full_name' = '${name}'`;
export const first = `(select id from audit.changes where ${isRename('Ada L.')})`;
export const second = `(select id from audit.changes where ${isRename('Ada M.')})`;

const columns =
  'occurred_at, organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, salt';
export const insertCopy = (id: string, time = 'occurred_at') => `
  insert into audit.changes (id, ${columns}) overriding system value
  select ${id}, ${columns.replace('occurred_at', time)} from audit.changes where id = ${first}`;
