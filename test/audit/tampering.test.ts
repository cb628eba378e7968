// Tests of `audit verify` on a history that was changed behind the service's back.
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createSealed, expectIntact, first, insertCopy, second, tamper, verify } from './sealed.ts';
import { company } from './support.ts';

let sealed: TestDatabase;
let head: string;
beforeAll(async () => {
  ({ sealed, head } = await createSealed());
});
afterAll(() => sealed.drop());

const month = (days: number) =>
  `(select partition from audit.partitions where now() - interval '${days} days' between since and until)`;
const ofMonth = (action: string, days: number) => `do $$ begin execute format('${action}', ${month(days)}); end $$`;
const changeId = (from: string, to: string) =>
  `alter table audit.changes alter column id drop identity if exists; update audit.changes set id = ${to} where id = ${from}`;
const erase = (where: string) => `
  update audit.changes set before = null, after = null, salt = null,
    commitment = sha256(convert_to(concat(salt, e'\\n', before, e'\\n', after), 'UTF8'))
  where ${where}`;
const forgeDeletion = `
  insert into audit.changes (organization_id, subject_id, relation, row_id, command, columns, role, login)
  values ('${company.acme}', '${company.ada}', 'app_public.users', '${company.ada}', 'delete', '{}', 'x', 'x')`;
const tampered: readonly (readonly [what: string, statements: string, finding: string])[] = [
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
];

const changesSchema = (statements: string) => /\b(alter|drop) table\b/.test(statements);

describe('verify', () => {
  let copy: TestDatabase;
  beforeAll(async () => {
    copy = await createTestDatabase(sealed);
    await copy.owner.query(
      kept.map((table) => `create table public.${table} as select * from audit.${table}`).join(';'),
    );
  });
  afterEach(() =>
    tamper(
      copy,
      kept
        .map(
          (table) =>
            `delete from audit.${table}; insert into audit.${table} overriding system value table public.${table}`,
        )
        .join(';'),
    ),
  );
  afterAll(() => copy.drop());

  const kept = ['changes', 'chains', 'seals'];

  test.each(tampered.filter(([, statements]) => !changesSchema(statements)))(
    'finds %s',
    async (_what, statements, finding) => {
      await tamper(copy, statements);

      const { code, stdout } = await verify(copy, head);

      expect(stdout).toContain(finding);
      expect(code).toBe(1);
    },
  );

  test('finds nothing once the rows are put back', () => expectIntact(copy, head));
});

describe('verify, where tables were altered, too,', () => {
  let copy: TestDatabase;
  beforeEach(async () => {
    copy = await createTestDatabase(sealed);
  });
  afterEach(() => copy.drop());

  test.each(tampered.filter(([, statements]) => changesSchema(statements)))(
    'finds %s',
    async (_what, statements, finding) => {
      await tamper(copy, statements);

      const { code, stdout } = await verify(copy, head);

      expect(stdout).toContain(finding);
      expect(code).toBe(1);
    },
  );

  test('finds a change of each column', async () => {
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
      await tamper(copy, `update audit.changes set ${name} = ${other[type]} where id = ${second}`);
      expect([name, (await verify(copy, head)).code]).toEqual([name, 1]);
      await tamper(
        copy,
        `delete from audit.changes where id in (1000000, (select max(id) from kept));
        insert into audit.changes select * from kept where id = (select max(id) from kept)`,
      );
    }
    await expectIntact(copy, head);
  });
});
