import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { seal as sealDatabase } from '../../src/commands/audit/history/seal.ts';
import { purgeExpired } from '../../src/oauth/purge.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import * as history from './sealed.ts';
import { createSealed, insertCopy, isRename, rename, second } from './sealed.ts';
import { audit, company } from './support.ts';

let sealed: TestDatabase;
let copy: TestDatabase;
let head: string;
beforeAll(async () => {
  ({ sealed, head } = await createSealed());
});
beforeEach(async () => {
  copy = await createTestDatabase(sealed);
});
afterEach(() => copy.drop());
afterAll(() => sealed.drop());

const seal = () => history.seal(copy);
const verify = (kept = head) => history.verify(copy, kept);
const expectIntact = (kept = head) => history.expectIntact(copy, kept);
const tamper = (statements: string) => history.tamper(copy, statements);

const shortenRetention = `
  create or replace function audit.retention() returns interval
    language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$ select interval '30 days' $$`;

test('verify finds a history that was sealed anew', async () => {
  await tamper(`update audit.changes set login = 'x' where id = ${second}; truncate audit.chains, audit.seals`);

  const forged = await seal();

  await expectIntact(forged);
  expect(await verify()).toMatchObject({ code: 1, stdout: expect.stringContaining('Seal 1 has another head') });
});

test('verify finds the files of an older backup, and what was written to them since', async () => {
  await copy.owner.query(rename('Ada N.'));
  const lost = await seal();
  await copy.drop();
  copy = await createTestDatabase(sealed);

  expect(await verify(lost)).toMatchObject({ code: 1, stdout: expect.stringContaining('Seal 2 is gone') });
  await copy.owner.query(rename('Ada O.'));
  await seal();
  expect(await verify(lost)).toMatchObject({ code: 1, stdout: expect.stringContaining('Seal 2 has another head') });
  await expectIntact();
});

describe('verify lets pass', () => {
  test('what was written since, also once it is sealed', async () => {
    await copy.owner.query(rename('Ada N.'));

    await expectIntact();
    const next = await seal();
    expect(next).toMatch(/^2-/);
    await expectIntact();
    await expectIntact(next);
    await tamper(`update audit.changes set login = 'x' where ${isRename('Ada N.')}`);
    await expectIntact();
    expect(await verify(next)).toMatchObject({ code: 1, stdout: expect.stringContaining('was changed') });
  });

  test('that nothing was written since, which has the same head', async () => {
    expect(await seal()).toBe(head);
  });

  test('a person who is erased, whose values are gone', async () => {
    await copy.owner.query(`delete from app_public.users where id = '${company.ada}'`);

    expect(await expectIntact()).toContain('were erased, since their persons were deleted');
    await expectIntact(await seal());
    const { rows } = await copy.owner.query(
      `select from audit.changes where subject_id = '${company.ada}' and coalesce(before::text, after::text, salt::text) is not null`,
    );
    expect(rows).toEqual([]);
  });

  test('months that are older than the retention, which leave their heads', async () => {
    const purged = await purgeExpired((statement) => copy.owner.query(statement));

    expect(purged).toMatchObject({ months: 2 });
    expect(await expectIntact()).toContain('| 2 | are gone with months that were older than 400 days');
    await copy.owner.query(rename('Ada N.'));
    await expectIntact(await seal());
    await tamper(`delete from audit.changes where id = ${second}`);
    expect(await verify()).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/Entries of organization \S+ in \S+ are gone: 1\./),
    });
  });

  test('a retention that was shortened before the seal, and not one that was shortened since', async () => {
    await copy.owner.query(shortenRetention);
    await copy.owner.query(rename('Ada N.'));
    const next = await seal();

    expect(await purgeExpired((statement) => copy.owner.query(statement))).toMatchObject({ months: 3 });

    await expectIntact(next);
    expect(await verify()).toMatchObject({ code: 1, stdout: expect.stringContaining('are gone') });
  });

  test('what a transaction writes that was open at the seal', async () => {
    const open = await copy.owner.connect();
    await open.query(`begin; ${rename('Ada N.')}`);
    for (let round = 10; round >= 0; round -= 1)
      await copy.owner.query(
        `update app_public.users set full_name = 'Grace ${round || 'H.'}' where id = '${company.grace}'`,
      );

    // Several seals, none of which has what is open.
    const { text: during } = await sealDatabase({ pool: copy.owner, url: copy.ownerUrl }, 3);
    expect(during).toMatch(/^5-/);
    await open.query('commit');
    open.release();

    expect(await expectIntact(during)).toContain('| 1 | came later');
    const next = await seal();
    for (const kept of [head, during, next]) await expectIntact(kept);
    for (const name of ['Grace H.', 'Ada N.']) {
      await tamper(`update audit.changes set role = 'x' where ${isRename(name)}`);
      expect(await verify(next)).toMatchObject({ code: 1, stdout: expect.stringContaining('was changed') });
      await tamper(`update audit.changes set role = 'postgres' where ${isRename(name)}`);
      await expectIntact(next);
    }
  });

  test('a person who is erased by a transaction that was open at the seal', async () => {
    const open = await copy.owner.connect();
    await open.query(`begin; delete from app_public.users where id = '${company.ada}'; set constraints all immediate`);

    const during = await seal();
    await open.query('commit');
    open.release();

    await expectIntact(during);
    await expectIntact(await seal());
  });
});

test('an entry where nothing can come any more was inserted, also if something could at an earlier seal', async () => {
  const open = await copy.owner.connect();
  await open.query(`begin; ${rename('Ada N.')}`);
  await seal();
  await open.query('rollback');
  open.release();
  const next = await seal();

  await tamper(insertCopy(`(select max(id) + 1 from audit.changes)`));

  expect(await verify(next)).toMatchObject({ code: 1, stdout: expect.stringContaining('was inserted') });
});

test('many seals at once, each of a few entries, beside writers', async () => {
  const write = (person: string) =>
    copy.owner.query(`insert into app_hidden.unit_access (organization_id, user_id, unit_id) values ('${company.acme}', '${person}', '${company.room}');
      delete from app_hidden.unit_access where user_id = '${person}' and unit_id = '${company.room}'`);
  const database = { pool: copy.owner, url: copy.ownerUrl };

  const [heads] = await Promise.all([
    Promise.all(Array.from({ length: 3 }, () => sealDatabase(database, 3))),
    Promise.all(Array.from({ length: 20 }, () => Promise.all([write(company.ada), write(company.grace)]))),
  ]);

  const last = await seal();
  for (const kept of [head, ...heads.map(({ text }) => text), last]) await expectIntact(kept);
  const { rows } = await copy.owner.query(
    `select count(*)::int as entries, (select sum(entries)::int from audit.chains) as sealed from audit.changes`,
  );
  expect(rows).toEqual([{ entries: rows[0].entries, sealed: rows[0].entries }]);
  expect(rows[0].entries).toBeGreaterThan(100);
});

test('ids that the sequence has left out are no end', async () => {
  await copy.owner.query(`select setval('audit.changes_id_seq', 1000)`);
  await copy.owner.query(rename('Ada N.'));

  const { text: next } = await sealDatabase({ pool: copy.owner, url: copy.ownerUrl }, 100);

  expect(next).toMatch(/^2-/);
  await tamper(`update audit.changes set role = 'x' where ${isRename('Ada N.')}`);
  expect(await verify(next)).toMatchObject({ code: 1, stdout: expect.stringContaining('Entry 1001 was changed') });
  await expectIntact();
});

test('an auditor verifies with a role of their own', async () => {
  const url = new URL(copy.ownerUrl);
  const name = `auditor_${randomUUID().replaceAll('-', '')}`;
  await copy.owner.query(`create role ${name} login password 'x' in role graph_auditor`);
  [url.username, url.password] = [name, 'x'];

  const intact = await audit({ ownerUrl: url.href }, 'verify', '--head', head);
  await tamper(`delete from audit.changes where id = ${second}`);
  const changed = await audit({ ownerUrl: url.href }, 'verify', '--head', head);
  const refused = await audit({ ownerUrl: url.href }, 'seal');

  await copy.owner.query(`drop role ${name}`);
  expect(intact).toMatchObject({ code: 0, stdout: expect.stringContaining('only the owner of the database can ask') });
  expect(changed).toMatchObject({ code: 1, stdout: expect.stringContaining('is gone') });
  expect(refused).toMatchObject({ code: 1, error: expect.stringContaining('permission denied') });
});

test('the head can be computed by other means, as the page says', async () => {
  await copy.owner.query(`delete from app_public.users where id = '${company.grace}'`);
  const [, statement = ''] = (await readFile('docs/auditing-access.md', 'utf8')).split(
    /```sql\n(?=select id, organization_id)/,
  );
  const sha256 = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
  const heads = new Map<string, Buffer>();

  const { rows } = await copy.owner.query(statement.split('```')[0] ?? '');
  const { rows: chains } = await copy.owner.query(
    `select organization_id, month::text, entries::int, head from audit.chains where seal = 1 order by organization_id, month`,
  );
  const { rows: seals } = await copy.owner.query(
    `select number::int, to_char(sealed_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as sealed_at, retention::text, until::int,
       ids::text, pending::text, encode(sha256(marks), 'hex') as marks from audit.seals`,
  );

  for (const { id, organization_id, month, hash } of rows.filter(({ id }) => Number(id) <= seals[0].until)) {
    expect(id).toMatch(/^\d+$/);
    const key = `${organization_id} ${month}`;
    heads.set(key, sha256(heads.get(key) ?? Buffer.alloc(0), hash));
  }
  expect(chains.map(({ organization_id, month, head }) => [`${organization_id} ${month}`, head])).toEqual(
    [...heads].sort(),
  );
  const ends = chains.map(({ organization_id, month, entries, head }) => [
    organization_id,
    month,
    entries,
    head.toString('hex'),
  ]);
  expect(`1-${sha256(Buffer.from(JSON.stringify(['', ...Object.values(seals[0]), ends]))).toString('hex')}`).toBe(head);
});

test('a history without an entry has a head', async () => {
  await tamper('truncate audit.changes, audit.chains, audit.seals');

  const empty = await seal();

  expect(empty).toMatch(/^1-/);
  expect(await seal()).toBe(empty);
  expect(await expectIntact(empty)).toContain('It has no entry.');
});

test('audit verify without a head, or with what is none, is wrong usage', async () => {
  for (const args of [[], ['--head', '1-x'], ['--head', '']])
    expect([args, await audit(copy, 'verify', ...args)]).toMatchObject([args, { code: 64, stdout: '' }]);
});
