import { guarded, type Refuted } from './support.ts';

/** A tenant deletes its document, and so lines of others. The document's policy has a condition of its own. */
const cascading = (condition: string, before = '', columns = '') => `${before};
  create table app.members (tenant_id int not null, id int primary key, document_id int);
  insert into app.members values (1, 1, 1), (2, 2, 2); ${guarded('app.members')}
  create table app.documents (tenant_id int not null, id int primary key${columns});
  insert into app.documents values (1, 1), (2, 2);
  ${guarded('app.documents', `tenant_id = app.t() and ${condition}`)}
  create table app.lines (tenant_id int not null, id int primary key, document_id int references app.documents on delete cascade);
  insert into app.lines values (2, 2, 1); ${guarded('app.lines')}`;

const conditions: readonly (readonly [title: string, condition: string, before?: string, columns?: string])[] = [
  [
    'a correlated subquery of one value',
    '1 = (select m.tenant_id from app.members m where m.document_id = documents.id)',
  ],
  [
    'a correlated subquery of one value that is cast',
    "'1' = (select m.tenant_id::text from app.members m where m.document_id = documents.id)",
  ],
  ['a correlated aggregate', '1 = (select max(m.tenant_id) from app.members m where m.document_id = documents.id)'],
  ['a correlated array', '1 = any (array(select m.tenant_id from app.members m where m.document_id = documents.id))'],
  [
    'a correlated subquery in a subquery',
    `exists (select from app.members m where m.id = (select min(o.id) from app.members o where o.document_id = documents.id and o.id = m.id))`,
  ],
  [
    'a correlated subquery in a case',
    'case when id > 0 then 1 = (select m.tenant_id from app.members m where m.document_id = documents.id) end',
  ],
  [
    'a correlated subquery in from',
    'exists (select from app.members m, lateral (select m.id + documents.id as sum) s where s.sum = 2)',
  ],
  [
    'a correlated subquery of a query with a name',
    '1 = (with mine as (select m.tenant_id from app.members m where m.document_id = documents.id) select tenant_id from mine)',
  ],
  [
    'a correlated subquery in a function',
    'app.first_member(id) = 1',
    `set local check_function_bodies = off;
      create function app.first_member(int) returns int language sql stable as 'select m.tenant_id from app.members m where m.document_id = $1'`,
  ],
  [
    'a correlated subquery below a union',
    'exists (select m.id from app.members m where m.document_id = documents.id union select documents.id)',
  ],
  ['a correlated subquery in values', 'id in (select v.x from (values (documents.id), (9)) v (x))'],
  [
    'a recursive query',
    'exists (with recursive up as (select documents.id as n union all select n + 1 from up where n < 3) select from up where n = 3)',
  ],
  ['the place of the row', 'documents.ctid is not null'],
  ['the table of the row', "documents.tableoid = 'app.documents'::regclass"],
  [
    'a comparison of rows',
    '(tenant_id, id) = (select m.tenant_id, m.document_id from app.members m where m.document_id = documents.id)',
  ],
  ['a constant', '1 = 1'],
  ['an empty list', "id <> all ('{}'::int[])"],
  ['a correlated lock', 'exists (select from app.members m where m.document_id = documents.id for share)'],
  ['a window', '1 = (select first_value(m.tenant_id) over () from app.members m where m.document_id = documents.id)'],
];

/** What must be judged, and may not end in an error. */
export const crashes: readonly Refuted[] = [
  ...conditions.map(([title, condition, before, columns]) => ({
    title: `a cascade below ${title}`,
    schema: cascading(condition, before, columns),
    client: 'delete from app.documents where id = 1',
  })),
  {
    title: 'a table without columns beside a policy for everyone',
    schema: `create table app.nothing (); ${guarded('app.nothing', 'true')} alter policy own on app.notes using (true)`,
    client: 'table app.notes',
    shared: ['app.nothing'],
  },
  {
    title: 'a dropped column beside a policy for everyone',
    schema: `create table app.posts (gone int, tenant_id int not null, id int); alter table app.posts drop column gone;
      insert into app.posts values (2, 2); ${guarded('app.posts', 'true')}`,
    client: 'table app.posts',
  },
  {
    title: 'names with quotes, dots and backslashes beside a policy for everyone',
    schema: String.raw`create table app."a ""b"".c\d'e" (tenant_id int not null, "x "" y.z" int);
      insert into app."a ""b"".c\d'e" values (2, 2); ${guarded(String.raw`app."a ""b"".c\d'e"`, '"x "" y.z" = 2')}`,
    client: String.raw`table app."a ""b"".c\d'e"`,
  },
  {
    title: 'a cycle of policies beside a policy for everyone',
    schema: `create table app.one (tenant_id int not null); create table app.two (tenant_id int not null);
      ${guarded('app.one', 'exists (select from app.two)')} ${guarded('app.two', 'exists (select from app.one)')}
      alter policy own on app.notes using (true)`,
    client: 'table app.notes',
  },
  {
    title: 'a cycle of cascades',
    schema: `create table app.one (tenant_id int not null, id int primary key, two_id int);
      create table app.two (tenant_id int not null, id int primary key, one_id int references app.one on delete cascade);
      alter table app.one add foreign key (two_id) references app.two on delete cascade;
      insert into app.one values (1, 1, null), (2, 2, null); insert into app.two values (1, 1, 1), (2, 2, 1);
      ${guarded('app.one')} ${guarded('app.two')}`,
    client: 'delete from app.one where id = 1',
  },
  {
    title: 'a function that calls itself beside a policy for everyone',
    schema: `set local check_function_bodies = off;
      create function app.again(int) returns boolean language sql stable as 'select $1 <= 0 or app.again($1 - 1)';
      alter policy own on app.notes using (app.again(id))`,
    client: 'table app.notes',
  },
  {
    title: 'a policy of a thousand conditions',
    schema: `alter policy own on app.notes using (${Array.from({ length: 1000 }, (_, n) => `id <> ${n + 10}`).join(' and ')})`,
    client: 'table app.notes',
  },
  {
    title: 'a policy of four hundred nested conditions',
    schema: `alter policy own on app.notes using (${'not ('.repeat(400)}tenant_id = app.t() and false${')'.repeat(400)} or true)`,
    client: 'table app.notes',
  },
  {
    title: 'a function whose body does not parse beside a policy for everyone',
    schema: `set local check_function_bodies = off;
      create function app.broken() returns int language sql as 'this is no SQL';
      alter policy own on app.notes using (true)`,
    client: 'table app.notes',
  },
  ...[
    {
      place: 'a function',
      sql: (sum: string) => `create function app.sum() returns int language sql stable as 'select ${sum}'`,
    },
    {
      place: 'a default of a parameter',
      sql: (sum: string) =>
        `create function app.sum(x int default ${sum}) returns int language plpgsql stable as 'begin return x; end'`,
    },
    {
      place: 'a trigger',
      sql: (
        sum: string,
      ) => `create function app.sum() returns trigger language plpgsql as 'begin new.id := ${sum}; return new; end';
        create trigger sum before insert on app.notes for each row execute function app.sum()`,
    },
  ].map(({ place, sql }) => ({
    title: `the sum of ten thousand numbers in ${place} beside a policy for everyone`,
    schema: `set local check_function_bodies = off; set local max_stack_depth = '6MB'; ${sql(Array.from({ length: 10_000 }, () => 1).join(' + '))};
      alter policy own on app.notes using (true)`,
    client: 'table app.notes',
  })),
];
