import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { audit, company, insertCompany } from './support.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await insertCompany(database.owner);
});
afterAll(() => database.drop());

/** The rows of the table below a title. */
function rowsBelow(markdown: string, title: string): string[] {
  const [, section = ''] = markdown.split(`## ${title}\n`);
  const lines = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2);
}

test('npm run audit says all of it on one page, and ends with 0 when nothing is found', async () => {
  const { code, stdout, error } = await audit(database);

  expect(error).toBe('');
  expect(stdout.split('\n').filter((line) => line.startsWith('## '))).toEqual([
    '## Findings',
    '## What escapes row-level security, and why it may',
    '## Who may do what',
    '## Tables',
    '## Functions that a role may call',
    '## The history',
  ]);
  // Other test files make roles meanwhile; their names end in random digits.
  const foreign = rowsBelow(stdout, 'Findings').filter((row) => /_[0-9a-f]{8,32} /.test(row));
  expect(rowsBelow(stdout, 'Findings')).toEqual(foreign);
  expect(code).toBe(foreign.length > 0 ? 1 : 0);
  expect(rowsBelow(stdout, 'Who may do what')).toContainEqual(
    '| app_public.users | graph_app | delete |  | external_identifier, full_name, email, email_lowercase, locale, time_zone | An application deletes users of its organization. |',
  );
  expect(rowsBelow(stdout, 'The history')[0]).toMatch(/^\| app_hidden.organizations \| insert \| 2 \|/);
});

test('npm run audit ends with 1 on a finding, and says what to do', async () => {
  await database.owner.query('create view app_public.open as select * from app_public.users');

  const { code, stdout } = await audit(database);

  await database.owner.query('drop view app_public.open');
  expect(code).toBe(1);
  expect(stdout).toMatch(/There (is 1 finding|are \d+ findings)\./);
  expect(rowsBelow(stdout, 'Findings').join()).toContain('| error | app_public.open |');
});

test('npm run audit works for an auditor, too', async () => {
  const url = new URL(database.ownerUrl);
  const name = `auditor_${randomUUID().replaceAll('-', '')}`;
  await database.owner.query(`create role ${name} login password 'x' in role graph_auditor`);
  [url.username, url.password] = [name, 'x'];

  const report = await audit({ ownerUrl: url.href });
  const changes = await audit({ ownerUrl: url.href }, 'changes', '--of', company.ada);
  const refused = await audit({ ownerUrl: url.href }, 'visible', 'me:ada@acme.test');

  await database.owner.query(`drop role ${name}`);
  expect(report.stdout).toContain('## The history');
  expect(changes.stdout).toContain('Ada');
  expect(refused).toMatchObject({
    code: 1,
    stdout: '',
    error: expect.stringMatching(/^PostgreSQL: permission denied for function visible .*grant its role/),
  });
});

test('the questions are answered on the command line', async () => {
  const [whoCan, explain, visible, changes] = [
    await audit(database, 'who-can', 'app_public.units', company.room),
    await audit(database, 'explain', 'me:grace@acme.test', 'app_public.units', company.room),
    await audit(database, 'visible', 'me:grace@acme.test'),
    await audit(database, 'changes', '--table', 'app_public.cards', '--since', 'yesterday', '--limit', '1'),
  ];

  for (const { code, error } of [whoCan, explain, visible, changes])
    expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(whoCan.stdout).toContain(`access to unit Headquarters ${company.headquarters}`);
  expect(explain.stdout).toContain('| select | finds no such row | select_graph_user |');
  expect(visible.stdout).toContain('| app_public.units | 1 | 4 |');
  expect(changes.stdout.split('\n')).toHaveLength(5);
});

test('the history says by name which application let somebody in, and by id what has been deleted since', async () => {
  const grant = (application: string) => `
    begin;
    select audit.become(audit.find_principal('app:${application}'));
    select app_public.access_grant(user_id => '${company.konrad}', unit_id => '${company.room}', source => '${application}');
    commit`;
  const gone = randomUUID();
  await database.owner.query(
    `insert into oauth.applications (organization_id, id, name, client_id, scopes) values ($1, $2, 'Gone', 'gone', '{app}')`,
    [company.acme, gone],
  );
  await database.owner.query(grant('acme-backend'));
  await database.owner.query(grant('gone'));
  await database.owner.query('delete from oauth.applications where id = $1', [gone]);

  const { stdout } = await audit(database, 'changes', '--of', 'konrad@acme.test', '--table', 'app_hidden.unit_access');

  await database.owner.query('delete from app_hidden.unit_access where user_id = $1', [company.konrad]);
  expect(stdout).toMatch(
    new RegExp(
      `\\| application ${gone} \\| graph_app .*\\n.*\\| Acme Backend, application ${company.backend} \\| graph_app `,
    ),
  );
});

test('the history says what one application or person did, and refuses a principal that is neither', async () => {
  const move = (principal: string, name: string) => `
    begin;
    select audit.become(audit.find_principal('${principal}'));
    update app_public.units set name = '${name}' where id = '${company.room}';
    commit`;
  await database.owner.query(move('app:acme-backend', 'By the back end'));
  await database.owner.query(`update app_public.units set name = 'By the owner' where id = '${company.room}'`);

  const [back, byId, ada, all, oauth, unknown] = [
    await audit(database, 'changes', '--by', 'app:acme-backend', '--table', 'app_public.units'),
    await audit(database, 'changes', '--by', company.backend, '--table', 'app_public.units'),
    await audit(database, 'changes', '--by', 'me:ada@acme.test'),
    await audit(database, 'changes', '--table', 'app_public.units'),
    await audit(database, 'changes', '--by', 'oauth:Acme'),
    await audit(database, 'changes', '--by', 'app:nowhere'),
  ];

  expect(back.stdout).toContain('By the back end');
  expect(back.stdout).not.toContain('| login ');
  expect(byId.stdout).toBe(back.stdout);
  expect(all.stdout).toContain('"By the owner"');
  expect(ada).toMatchObject({ code: 0, stdout: expect.stringContaining('None.') });
  expect(oauth).toMatchObject({ code: 1, error: expect.stringContaining('name app:<client id> or me:<e-mail>') });
  expect(unknown).toMatchObject({ code: 1, error: expect.stringContaining('There is no principal app:nowhere') });
});

test('a time that PostgreSQL does not read is answered by how to write one', async () => {
  const { code, error } = await audit(database, 'changes', '--since', 'last week');

  expect(code).toBe(1);
  expect(error).toMatch(/^invalid input syntax .*"last week"\nWrite a time such as 2026-11-21/);
});

test('a row is named as people know it: by external identifier or e-mail, in a table without its schema', async () => {
  await database.owner.query(`
    update app_public.users set external_identifier = 'shared' where email in ('konrad@acme.test', 'mallory@rival.test');
    update app_public.units set external_identifier = 'room' where id = '${company.room}'`);
  const [room, ada, changes, shared] = [
    await audit(database, 'who-can', 'units', 'room'),
    await audit(database, 'explain', 'me:grace@acme.test', 'users', 'ada@acme.test'),
    await audit(database, 'changes', '--of', 'konrad@acme.test'),
    await audit(database, 'who-can', 'users', 'shared'),
  ];

  expect(room.stdout).toContain(`access to unit Headquarters ${company.headquarters}`);
  expect(ada.stdout).toMatch(/\| select \| finds no such row \|/);
  expect(changes.stdout).toContain('"external_identifier":"shared"');
  expect(changes.stdout).not.toContain('Mallory');
  expect(shared).toMatchObject({ code: 1, stdout: '' });
  expect(shared.error).toContain(`give the id: ${company.konrad} in Acme, ${company.mallory} in Rival.`);
});

test('an e-mail address has no case, and an external identifier may look like an id', async () => {
  const [identifier, ofUnit] = ['0f0e0d0c-0b0a-4009-8807-060504030201', company.konrad];
  await database.owner.query(`
    update app_public.users set external_identifier = '${identifier}' where id = '${company.grace}';
    update app_public.units set external_identifier = '${ofUnit}' where id = '${company.depot}'`);
  const changesOf = async (name: string) => (await audit(database, 'changes', '--of', name)).stdout;
  const whoCan = (table: string, name: string) => audit(database, 'who-can', table, name);

  const byId = await changesOf(company.grace);

  expect(byId).toContain(identifier);
  for (const name of ['Grace@ACME.test', 'GRACE@acme.TEST', identifier, company.grace.toUpperCase()])
    expect(await changesOf(name)).toBe(byId);
  for (const name of [ofUnit, company.depot])
    expect((await whoCan('units', name)).stdout).toContain(`access to unit Depot ${company.depot}`);
  expect((await whoCan('users', 'GRACE@acme.test')).code).toBe(0);
  expect(await whoCan('users', '0f0e0d0c-0b0a-4009-8807-060504030202')).toMatchObject({ code: 1 });
});

test.each([
  [
    ['who-can', 'app_public.units', company.room, '--at', 'yesterday'],
    `app_public.units had no row ${company.room} then (yesterday): it was made later, or deleted before.`,
  ],
  [['visible', 'me:nobody'], 'There is no principal me:nobody\napp:<client id>'],
  [['who-can', 'app_public.nothing', 'x'], 'relation "app_public.nothing" does not exist'],
  [['who-can', 'app_public.units', company.ada], `app_public.units has no row ${company.ada}`],
  [['who-can', 'app_public.units', 'x'], 'app_public.units has no row with the external identifier x.'],
  [
    ['who-can', 'users', 'x@acme.test'],
    'app_public.users has no row with the external identifier or email x@acme.test.',
  ],
  [['who-can', 'app_hidden.unit_ancestors', company.ada], 'Give the key as JSON: {"ancestor_id": "…", "unit_id": "…"}'],
  [['changes', '--since', 'never ever'], 'invalid input syntax for type timestamp with time zone: "never ever"'],
])('audit %j says what is wrong', async (args, message) => {
  const { code, stdout, error } = await audit(database, ...args);

  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(error).toContain(message);
});

test.each([[['explain', 'me:ada']], [['everything']], [['changes', '--limit', '0']]])(
  'audit %j is wrong usage',
  async (args) => {
    const { code, stdout, error } = await audit(database, ...args);

    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(error).toContain('error:');
  },
);
