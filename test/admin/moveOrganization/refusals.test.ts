import { randomBytes, randomUUID } from 'node:crypto';
import { findOrganization } from '../../../src/commands/admin/findUser.ts';
import { withCell, withCells } from '../../../src/commands/admin/moveOrganization/cells.ts';
import { findProblems } from '../../../src/commands/admin/moveOrganization/findProblems.ts';
import { asAdministrator } from '../../support/database.ts';
import { admin, expectDone } from '../inProcess.ts';
import {
  createCells,
  documentOf,
  key,
  leftOvers,
  move,
  noteKey,
  provision,
  reasonOf,
  states,
  type TestCells,
} from './cells.ts';

/** Each refusal comes before anything is made. Without its cause, the same checks find nothing. */
let cells: TestCells;
beforeAll(async () => {
  cells = await createCells();
  await provision(cells.here, documentOf('Acme'), documentOf('Globex'));
  expect(await problems()).toEqual([]);
});
afterAll(() => cells.drop());

const problems = (sourceUrl = cells.here.ownerUrl) =>
  withCells(cells.here.ownerUrl, cells.there.ownerUrl, async ({ from, to }) =>
    withCell(sourceUrl, '--from URL', async (source) =>
      findProblems({ from, to, source, organizationId: await acmeId(), key, isNew: true }),
    ),
  );

const acmeId = () =>
  cells.here.owner.connect().then((client) => findOrganization(client, 'Acme').finally(() => client.release()));

const here = (statement: string) => cells.here.owner.query(statement);
const there = (statement: string) => cells.there.owner.query(statement);

test.each<[string, RegExp, () => Promise<unknown>, () => Promise<unknown>]>([
  [
    'another version',
    /other migrations: bring both cells to the same version/,
    () =>
      there(
        "update graphile_migrate.migrations set hash = hash || 'x' where filename = (select max(filename) from graphile_migrate.migrations)",
      ),
    () =>
      there(
        "update graphile_migrate.migrations set hash = rtrim(hash, 'x') where filename = (select max(filename) from graphile_migrate.migrations)",
      ),
  ],
  [
    'a table that the other database has otherwise',
    /differ in app_public\.units\.floor integer: run the same migrations/,
    () => here('alter table app_public.units add floor int'),
    () => here('alter table app_public.units drop floor'),
  ],
  [
    'another key',
    /another SECRET_KEY, under which nothing of the organization would open/,
    async () => {
      await there('delete from app_hidden.secret_key_check');
      await noteKey(cells.there.owner, randomBytes(32));
    },
    async () => {
      await there('delete from app_hidden.secret_key_check');
      await noteKey(cells.there.owner, key);
    },
  ],
  [
    'a key that is not noted',
    /has not noted its SECRET_KEY: start its service once/,
    () => there('delete from app_hidden.secret_key_check'),
    () => noteKey(cells.there.owner, key),
  ],
  [
    'a name that is taken',
    /name of app_hidden\.organizations is taken there by another organization: Acme/,
    () => there("insert into app_hidden.organizations (name) values ('Acme')"),
    () => there("delete from app_hidden.organizations where name = 'Acme'"),
  ],
  [
    'a client id that is taken',
    /client_id of oauth\.applications is taken there by another organization: Acme-backend/,
    () =>
      provision(cells.there, { ...documentOf('Initech'), applications: [{ name: 'Other', clientId: 'Acme-backend' }] }),
    () => there('delete from oauth.application_secrets; delete from oauth.applications'),
  ],
  [
    'an id that is taken',
    /app_hidden\.organizations there has rows of the organization already/,
    async () => there(`insert into app_hidden.organizations (id, name) values ('${await acmeId()}', 'Namesake')`),
    () => there("delete from app_hidden.organizations where name = 'Namesake'"),
  ],
  [
    'an organization that another database moves there',
    /has a move of the organization already, from or to another one: finish or abort that first/,
    async () =>
      there(`insert into app_hidden.organization_moves (organization_id, move_id, state, peer)
        values ('${await acmeId()}', gen_random_uuid(), 'arriving', 'a third one')`),
    () => there("delete from app_hidden.organization_moves where peer = 'a third one'"),
  ],
  [
    'too few slots',
    /Of max_replication_slots \d are free here, and 3 are needed: raise it/,
    () =>
      here(`select pg_create_physical_replication_slot('taken_' || number)
        from generate_series(1, current_setting('max_replication_slots')::int - 2) as number`),
    () => here("select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name like 'taken%'"),
  ],
  [
    'a table without the organization in its key',
    /app_public\.doors has no organization_id in the key by which/,
    () => both('create table app_public.doors (id uuid primary key, organization_id uuid not null)'),
    () => both('drop table app_public.doors'),
  ],
  [
    'a table that is not replicated',
    /app_public\.doors is unlogged, and so is not replicated: alter table app_public\.doors set logged/,
    () =>
      both('create unlogged table app_public.doors (id uuid, organization_id uuid, primary key (organization_id, id))'),
    () => both('drop table app_public.doors'),
  ],
  [
    'a table that refers to rows of organizations and does not say whose its own are',
    /app_public\.doors refers to app_public\.units and has no organization_id/,
    () =>
      both(`create table app_public.doors (id uuid primary key, owner_id uuid, unit_id uuid,
        foreign key (owner_id, unit_id) references app_public.units (organization_id, id))`),
    () => both('drop table app_public.doors'),
  ],
])('refuses %s', async (_what, sentence, make, undo) => {
  await make();
  try {
    const reason = reasonOf(await move(cells));
    expect(reason).toMatch(/^Acme cannot be moved; nothing was changed\.$/m);
    expect(reason).toMatch(sentence);
    expect([(await states(cells))[0], await leftOvers(cells)]).toEqual([[], []]);
  } finally {
    await undo();
  }
  expect(await states(cells)).toEqual([[], []]);
  expect(await problems()).toEqual([]);
});

const both = async (statement: string) => {
  await here(statement);
  await there(statement);
};

test('refuses a key that is not of this database', async () => {
  const command = ['move-organization', 'Acme', '--to', cells.there.ownerUrl];
  const outcome = await admin(cells.here, command, { SECRET_KEY: randomBytes(32).toString('base64') });

  expect(reasonOf(outcome)).toMatch(/SECRET_KEY is not the key of this database: run the command with the environment/);
  expect([await states(cells), await leftOvers(cells)]).toEqual([[[], []], []]);
});

test('refuses the same database, and a URL that leads to another one or nowhere', async () => {
  expect(reasonOf(await move({ here: cells.here, there: cells.here }))).toMatch(
    /--to is the database in which the organization is/,
  );
  expect(reasonOf(await move(cells, ['--from', cells.there.ownerUrl]))).toMatch(
    /--from leads to another database than DATABASE_URL/,
  );
  const nowhere = 'postgres://postgres@127.0.0.1:1/graph';
  expect(reasonOf(await admin(cells.here, ['move-organization', 'Acme', '--to', nowhere]))).toMatch(
    /--to URL cannot be reached; nothing was changed/,
  );
  expect(reasonOf(await admin(cells.here, ['move-organization', 'Acme', '--to', 'nonsense']))).toMatch(
    /--to URL is no URL/,
  );
  expect([await states(cells), await leftOvers(cells)]).toEqual([[[], []], []]);
});

test('refuses roles without the rights, and takes those with them', async () => {
  const name = `mover_${randomUUID().replaceAll('-', '')}`;
  await asAdministrator(`create role ${name} login password 'secret'`);
  await asAdministrator(`grant graph_admin to ${name}`);
  for (const { ownerUrl } of [cells.here, cells.there])
    await asAdministrator(`grant connect on database ${new URL(ownerUrl).pathname.slice(1)} to ${name}`);
  await both(
    `grant usage on schema graphile_migrate to ${name}; grant select on graphile_migrate.migrations to ${name}`,
  );
  const asRole = (url: string) => {
    const login = new URL(url);
    login.username = name;
    login.password = 'secret';
    return login.href;
  };
  try {
    const to = ['move-organization', 'Acme', '--to'];
    expect(reasonOf(await admin(cells.here, [...to, asRole(cells.there.ownerUrl)]))).toMatch(
      /The role of --to may not write .* superuser/,
    );
    expect(reasonOf(await admin({ ownerUrl: asRole(cells.here.ownerUrl) }, [...to, cells.there.ownerUrl]))).toMatch(
      /The role of DATABASE_URL may not .* superuser/,
    );
    const from = [...to, cells.there.ownerUrl, '--from', asRole(cells.here.ownerUrl)];
    expect(reasonOf(await admin(cells.here, from))).toMatch(
      /The role of --from may not read for a copy: alter role mover_\w+ replication bypassrls/,
    );
    expect([await states(cells), await leftOvers(cells)]).toEqual([[[], []], []]);

    await asAdministrator(`alter role ${name} replication bypassrls`);
    await here(`grant usage on schema app_public, app_hidden, oauth to ${name};
      grant select on all tables in schema app_public, app_hidden, oauth to ${name}`);
    expect(await problems(asRole(cells.here.ownerUrl))).toEqual([]);
  } finally {
    await both(`drop owned by ${name}`);
    await asAdministrator(`drop role ${name}`);
  }
});

test('refuses each step before its time, and a second move beside the first', async () => {
  expect(reasonOf(await move(cells, ['--cut-over']))).toMatch(
    /Acme has not been copied: run the command without --cut-over first/,
  );
  expect(reasonOf(await move(cells, ['--drop']))).toMatch(/Acme has not moved/);
  expect(reasonOf(await move(cells, ['--abort']))).toMatch(/is not being moved/);
  expect(reasonOf(await move(cells, [], 'Nobody'))).toMatch(/There is no organization Nobody/);
  expect((await move(cells, ['--drop', '--abort'])).code).toBe(64);
  expectDone(await move(cells));
  const elsewhere = await createCells();
  try {
    const third = { here: cells.here, there: elsewhere.there };
    expect(reasonOf(await move(third))).toMatch(/is being moved to another database than --to/);
    expect(reasonOf(await move({ here: cells.there, there: elsewhere.there }))).toMatch(
      /is arriving here: finish or abort that move from the other cell/,
    );
  } finally {
    await elsewhere.drop();
  }
  expectDone(await move(cells, ['--cut-over']));
  expect(reasonOf(await move(cells))).toMatch(/Acme has moved already: --drop deletes/);
  expect(reasonOf(await move(cells, ['--abort']))).toMatch(
    /The cut-over is over: run --drop here, and then move the organization back/,
  );
  // Until it is dropped there is no way back.
  expect(reasonOf(await move({ here: cells.there, there: cells.here }))).toMatch(
    /there has rows of the organization already/,
  );
  expectDone(await move(cells, ['--drop']));
});

test('one command at a time moves an organization, and none beside another that writes', async () => {
  const holder = await cells.here.owner.connect();
  const { rows } = await holder.query<{ id: string }>("select id from app_hidden.organizations where name = 'Globex'");
  try {
    await holder.query(`select pg_advisory_lock(hashtextextended('move-organization ' || $1, 0))`, [rows[0]?.id]);
    expect(reasonOf(await move(cells, [], 'Globex'))).toMatch(/Another command is moving this organization right now/);
    await holder.query('select pg_advisory_unlock_all()');

    expectDone(await move(cells, [], 'Globex'));
    await holder.query(`begin; select pg_advisory_xact_lock_shared(hashtextextended('transactions of the owner', 0))`);
    expect(reasonOf(await move(cells, ['--cut-over'], 'Globex'))).toMatch(
      /Another admin command is changing this database/,
    );
    await holder.query('commit');
  } finally {
    holder.release(true);
  }
  expectDone(await move(cells, ['--cut-over'], 'Globex'));
  const list = ['end-user-tokens', '--organization', 'Globex', '--email', 'u-0@globex.test'];
  expect(reasonOf(await admin(cells.here, list))).toMatch(
    /is being moved to another cell, or has moved there: run the command there/,
  );
  expectDone(await admin(cells.there, list));
  await expect(provision(cells.here, documentOf('Globex'))).rejects.toThrow(
    /Globex is being moved to another cell, or has moved there: apply it there/,
  );
  await provision(cells.there, documentOf('Globex'));
});
