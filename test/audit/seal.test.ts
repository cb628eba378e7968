import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { seal as sealDatabase } from '../../src/commands/audit/history/seal.ts';
import { purgeExpired } from '../../src/oauth/purge/purgeExpired.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { audit, company, insertCompany } from './support.ts';

/**
 * `sealed` has a history of two organizations and its seal: two months are older than the retention, one change was rolled back, and Konrad
 * was deleted. Each test works on a copy of its files.
 */
let sealed: TestDatabase;
let copy: TestDatabase;
let head: string;
beforeAll(async () => {
  sealed = await createTestDatabase();
  await insertCompany(sealed.owner);
  await sealed.owner.query(`
    ${insertOld(600, 570, 100)};
    select audit.create_partitions();
    delete from app_public.users where id = '${company.konrad}';`);
  await sealed.owner.query(`begin; ${rename('Nobody')}; rollback`);
  await sealed.owner.query(rename('Ada L.'));
  await sealed.owner.query(rename('Ada M.'));
  head = await seal(sealed);
});
beforeEach(async () => {
  copy = await createTestDatabase(sealed);
});
afterEach(() => copy.drop());
afterAll(() => sealed.drop());

function insertOld(...days: number[]): string {
  return `insert into audit.changes (occurred_at, organization_id, subject_id, relation, row_id, command, columns, role, login)
    select now() - make_interval(days => days), '${company.acme}', id, 'app_public.units', id, 'insert', '{}', 'x', 'x'
    from unnest('{${days}}'::int[]) as days, gen_random_uuid() as id`;
}

function rename(name: string): string {
  return `update app_public.users set full_name = '${name}' where id = '${company.ada}'`;
}

async function seal(database = copy): Promise<string> {
  const { code, stdout, error } = await audit(database, 'seal');
  expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(stdout).toMatch(/^[1-9]\d*-[0-9a-f]{64}$/);
  return stdout;
}

const verify = (kept = head) => audit(copy, 'verify', '--head', kept);

async function expectIntact(kept = head): Promise<string> {
  const { code, stdout } = await verify(kept);
  expect(stdout).toContain('Nothing was changed, removed, inserted or reordered.');
  expect(code).toBe(0);
  return stdout;
}

/** As a superuser may: no trigger runs, no policy holds. */
const tamper = (statements: string) =>
  copy.owner.query(`begin; set local session_replication_role = replica; ${statements}; commit`);

/** Ada's names; `second` is the newest entry. */
const isRename = (name: string) => `after ->> 'full_name' = '${name}'`;
const first = `(select id from audit.changes where ${isRename('Ada L.')})`;
const second = `(select id from audit.changes where ${isRename('Ada M.')})`;
const month = (days: number) =>
  `(select partition from audit.partitions where now() - interval '${days} days' between since and until)`;
const ofMonth = (action: string, days: number) => `do $$ begin execute format('${action}', ${month(days)}); end $$`;
const columns =
  'occurred_at, organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, salt';
const insertCopy = (id: string, time = 'occurred_at') => `
  insert into audit.changes (id, ${columns}) overriding system value
  select ${id}, ${columns.replace('occurred_at', time)} from audit.changes where id = ${first}`;
const changeId = (from: string, to: string) =>
  `alter table audit.changes alter column id drop identity if exists; update audit.changes set id = ${to} where id = ${from}`;
const erase = (where: string) => `
  update audit.changes set before = null, after = null, salt = null,
    commitment = sha256(convert_to(concat(salt, e'\\n', before, e'\\n', after), 'UTF8'))
  where ${where}`;
const forgeDeletion = `
  insert into audit.changes (organization_id, subject_id, relation, row_id, command, columns, role, login)
  values ('${company.acme}', '${company.ada}', 'app_public.users', '${company.ada}', 'delete', '{}', 'x', 'x')`;
const shortenRetention = `
  create or replace function audit.retention() returns interval
    language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$ select interval '30 days' $$`;

test.each([
  ['a value', `update audit.changes set after = '{"full_name":"Eve"}' where id = ${second}`, 'was changed'],
  [
    'values and their salt',
    `update audit.changes set after = '{}', salt = gen_random_uuid() where id = ${second}`,
    'was changed',
  ],
  ['who did it', `update audit.changes set user_id = gen_random_uuid() where id = ${second}`, 'was changed'],
  [
    'the organization',
    `update audit.changes set organization_id = '${company.rival}' where id = ${second}`,
    'was changed',
  ],
  [
    'the time',
    `update audit.changes set occurred_at = occurred_at - interval '1 ms' where id = ${second}`,
    'was changed',
  ],
  [
    'the month',
    `update audit.changes set occurred_at = occurred_at - interval '31 days' where id = ${second}`,
    'was changed',
  ],
  [
    'the order of two entries',
    `${changeId(first, '-1')}; ${changeId(second, `${second} - 1`)}; ${changeId('-1', `(select max(id) + 1 from audit.changes)`)}`,
    'was changed',
  ],
  [
    'what two entries say',
    `update audit.changes c set before = o.before, after = o.after, salt = o.salt
     from audit.changes o where c.id + o.id = ${first} + ${second} and c.id in (${first}, ${second})`,
    'was changed',
  ],
  ['an entry that is gone', `delete from audit.changes where id = ${second}`, 'is gone'],
  ['a partition without its rows', ofMonth('truncate %s', 0), 'is gone'],
  ['a partition that was detached', ofMonth('alter table audit.changes detach partition %s', 100), 'is gone'],
  ['a partition that was dropped too early', ofMonth('drop table %s', 100), 'is gone'],
  ['an entry where a change was rolled back', insertCopy(`${first} - 1`), 'was inserted'],
  [
    'an entry with the id of another',
    `${insertCopy('0')}; update audit.changes set subject_id = organization_id where id = 0; ${changeId('0', second)}`,
    'is there twice',
  ],
  ['a new entry of an earlier time', insertCopy(`nextval('audit.changes_id_seq')`), 'was inserted'],
  ['an entry before the first', insertCopy('-1'), 'was inserted'],
  ['an entry before all that a number of JavaScript counts', insertCopy(`-${2n ** 63n}`), 'was inserted'],
  [
    'values that were taken away',
    `update audit.changes set before = null, after = null where id = ${second}`,
    'was changed',
  ],
  ['values of a person who lives, erased', erase(`subject_id = '${company.ada}'`), 'though its person was not deleted'],
  [
    'values of a person who lives, erased, and a deletion that was written by hand',
    `${erase(`subject_id = '${company.ada}'`)}; ${forgeDeletion}`,
    'though its person was not deleted',
  ],
  ['values of a unit, erased', erase(`subject_id = '${company.depot}'`), 'no deletion of its person is recorded'],
  [
    'the record of a deletion, after which values were erased',
    `delete from audit.changes where subject_id = '${company.konrad}' and command = 'delete'`,
    'no deletion of its person is recorded',
  ],
  [
    'what is left of a value that was erased',
    `update audit.changes set commitment = sha256('x') where commitment is not null`,
    'was changed',
  ],
  [
    'an entry and its mark',
    `update audit.changes set login = 'x' where id = ${second}; update audit.seals set marks = overlay(marks placing '\\x00000000' from length(marks) - 3)`,
    'Seal 1 was changed',
  ],
  [
    'an entry that is gone, also from its seal',
    `update audit.seals set ids = ids - int8multirange(int8range(${second}, null)), marks = substr(marks, 1, length(marks) - 4);
     delete from audit.changes where id = ${second}`,
    'Seal 1 was changed',
  ],
  [
    'an entry that the seal lets come later',
    `update audit.seals set pending = int8multirange(int8range(${first} - 1, ${first})); ${insertCopy(`${first} - 1`)}`,
    'Seal 1 was changed',
  ],
  [
    'a seal that keeps nothing for long',
    `update audit.seals set retention = '30 days'; ${ofMonth('drop table %s', 100)}`,
    'Seal 1 was changed',
  ],
  [
    'the head of a chain',
    `update audit.chains set head = sha256('x') where organization_id = '${company.rival}'`,
    'Seal 1 was changed',
  ],
  ['a seal that is gone', 'truncate audit.chains, audit.seals', 'Seal 1 is gone'],
])('verify finds %s', async (_what, statements, finding) => {
  await tamper(statements);

  const { code, stdout } = await verify();

  expect(stdout).toContain(finding);
  expect(code).toBe(1);
});

test('verify finds a change of each column', async () => {
  const { rows } = await copy.owner.query<{ name: string; type: string }>(
    `select attname as name, atttypid::regtype::text as type from pg_attribute
     where attrelid = 'audit.changes'::regclass and attnum > 0 and not attisdropped`,
  );
  const other: Record<string, string> = {
    bigint: '1000000',
    uuid: 'gen_random_uuid()',
    text: "'delete'",
    'text[]': "'{other}'",
    jsonb: "'{}'",
    'timestamp with time zone': "now() - interval '1 day'",
  };
  await copy.owner.query(
    `create table kept as select * from audit.changes; alter table audit.changes alter column id drop identity`,
  );
  expect(rows.length).toBeGreaterThan(15);

  for (const { name, type } of rows.filter(({ type }) => type !== 'bytea')) {
    await tamper(`update audit.changes set ${name} = ${other[type]} where id = ${second}`);
    expect([name, (await verify()).code]).toEqual([name, 1]);
    await tamper(`delete from audit.changes where id in (1000000, (select max(id) from kept));
      insert into audit.changes select * from kept where id = (select max(id) from kept)`);
  }
  await expectIntact();
});

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

test.each([[['verify']], [['verify', '--head', '1-x']], [['verify', '--head', '']]])(
  'audit %j is wrong usage',
  async (args) => {
    expect(await audit(copy, ...args)).toMatchObject({ code: 64, stdout: '' });
  },
);
