import { createEmptiedDatabase, type EmptiedDatabase } from '../support/emptiedDatabase.ts';
import { ada, backend, grace, readersOfRowAt, timeAt, unitsSeenAt } from './asOf.ts';
import { company, insertCompany, undone } from './support.ts';

let database: EmptiedDatabase;
beforeAll(async () => {
  database = await createEmptiedDatabase();
});
beforeEach(() => insertCompany(database.owner));
afterEach(() => database.empty());
afterAll(() => database.drop());

const ask = async (statement: string, ...values: unknown[]) => (await database.owner.query(statement, values)).rows;
const now = () => timeAt(database.owner);
const unitsAt = (principal: string, at: string) => unitsSeenAt(database.owner, principal, at);
const readersAt = (table: string, key: string, at: string) => readersOfRowAt(database.owner, table, key, at);

describe('audit.visible_at and audit.who_could', () => {
  it('name what a person lost with a grant, with the units that were below it then', async () => {
    const before = await now();
    await ask(`update app_public.units set parent_id = '${company.depot}' where id = '${company.room}'`);
    await ask(`delete from app_hidden.unit_access where user_id = '${company.ada}'`);
    const after = await now();

    expect(await unitsAt(ada, before)).toEqual(['Floor', 'Headquarters', 'Room']);
    expect(await unitsAt(ada, after)).toEqual([]);
    expect(await unitsAt(grace, before)).toEqual(['Depot']);
    expect(await unitsAt(grace, after)).toEqual(['Depot', 'Room']);
    expect(await readersAt('app_public.units', company.room, before)).toEqual([backend, ada]);
    expect(await readersAt('app_public.units', company.room, after)).toEqual([backend, grace]);
    // They are there all the same.
    expect(await unitsAt(backend, after)).toEqual(['Depot', 'Floor', 'Headquarters', 'Room']);
  });

  it('say through which access, by which policy', async () => {
    const before = await now();
    await ask(`delete from app_hidden.unit_access where user_id = '${company.ada}'`);

    const text = `select * from audit.who_could('app_public.units', $1, $2) where principal = $3`;
    expect(await ask(text, company.room, before, ada)).toEqual([
      {
        command: 'select',
        principal: ada,
        name: 'Ada',
        columns: [],
        policies: ['select_graph_user'],
        rules: ['A person sees the units granted to them and everything below these.'],
        through: `access to unit Headquarters ${company.headquarters}`,
      },
    ]);
    expect(await ask(text, company.room, await now(), ada)).toEqual([]);
  });

  it('have a row that was deleted since, and its values then; not one that was added', async () => {
    const first = await now();
    await ask(`update app_public.units set name = 'Yard' where id = '${company.depot}'`);
    const second = await now();
    await ask(`update app_public.units set name = 'Court' where id = '${company.depot}'`);
    await ask(`delete from app_public.units where id = '${company.depot}'`);
    await ask(`insert into app_public.units (organization_id, name) values ('${company.acme}', 'Annex')`);

    expect(await unitsAt(grace, first)).toEqual(['Depot']);
    expect(await unitsAt(grace, second)).toEqual(['Yard']);
    expect(await unitsAt(grace, await now())).toEqual([]);
    expect(await unitsAt(backend, second)).toEqual(['Floor', 'Headquarters', 'Room', 'Yard']);
    expect(await unitsAt(backend, await now())).toEqual(['Annex', 'Floor', 'Headquarters', 'Room']);
    expect(await readersAt('app_public.units', company.depot, second)).toEqual([backend, grace]);
    await expect(readersAt('app_public.units', company.depot, await now())).rejects.toMatchObject({ code: 'P0002' });
  });

  it('go by the time of a grant, not by that of the question', async () => {
    const give = (unit: string, times: string) =>
      ask(`insert into app_hidden.unit_access (organization_id, user_id, unit_id, source, valid_from, valid_until)
        values ('${company.acme}', '${company.grace}', '${unit}', 'hr', ${times})`);
    await give(company.floor, `null, clock_timestamp() + interval '1 second'`);
    await give(company.headquarters, `clock_timestamp() + interval '1 day', null`);
    const within = await now();
    expect(await unitsAt(grace, within)).toEqual(['Depot', 'Floor', 'Room']);
    await ask('select pg_sleep(1)');

    expect(await unitsAt(grace, within)).toEqual(['Depot', 'Floor', 'Room']);
    expect(await unitsAt(grace, await now())).toEqual(['Depot']);
  });

  it('have a row that was deleted and added again as it was before', async () => {
    const grant = `(organization_id, user_id, unit_id) values ('${company.acme}', '${company.grace}', '${company.depot}')`;
    const before = await now();
    await ask(`delete from app_hidden.unit_access where user_id = '${company.grace}'`);
    const between = await now();
    await ask(`insert into app_hidden.unit_access ${grant}`);

    expect(await unitsAt(grace, before)).toEqual(['Depot']);
    expect(await unitsAt(grace, between)).toEqual([]);
    expect(await unitsAt(grace, await now())).toEqual(['Depot']);
  });

  it('ask the principals of that time', async () => {
    const before = await now();
    await ask(`insert into oauth.applications (organization_id, name, client_id, scopes)
      values ('${company.acme}', 'Late', 'acme-late', '{app}')`);
    await ask(`delete from oauth.applications where client_id = 'acme-backend'`);

    expect(await readersAt('app_public.units', company.depot, before)).toEqual([backend, grace]);
    expect(await readersAt('app_public.units', company.depot, await now())).toEqual(['app:acme-late', grace]);
    expect(await unitsAt(backend, before)).toContain('Depot');
    await expect(unitsAt('app:acme-late', before)).rejects.toMatchObject({ code: 'P0002' });
  });

  it('do not know a person who was deleted since, and still know the others', async () => {
    const before = await now();
    await ask(`delete from app_public.users where id = '${company.ada}'`);

    expect(await readersAt('app_public.units', company.room, before)).toEqual([backend]);
    expect(await readersAt('app_public.units', company.depot, before)).toEqual([backend, grace]);
    await expect(unitsAt(ada, before)).rejects.toMatchObject({ code: 'P0002' });
  });

  it('show no secret, and nothing but what the role may read', async () => {
    const [row] = await ask(
      `select value from audit.visible_at($1, now()) where relation = 'app_public.users'::regclass`,
      `oauth:${company.acme}`,
    );

    expect(Object.keys(row?.value).sort()).toEqual(['email', 'full_name']);
  });

  it('refuse what the history does not have', async () => {
    const refused = (statement: string) => expect(ask(statement)).rejects;

    await refused(`select audit.who_could('app_hidden.time_zones', 'x', now())`).toMatchObject({ code: '22023' });
    await refused(`select audit.visible_at('${ada}', now() - interval '401 days')`).toMatchObject({ code: '22023' });
    await refused(`select audit.visible_at('me:none', now())`).toMatchObject({ code: 'P0002' });
    const before = await now();
    await ask(`update app_public.cards set id = gen_random_uuid() where id = '${company.badge}'`).catch(
      () => undefined,
    );
    await ask(`insert into app_public.cards (organization_id, id, type, name) values
      ('${company.acme}', '${company.mallory}', 'IdentificationCode', 'Spare')`);
    await ask(`update app_public.cards set id = '${company.konrad}' where id = '${company.mallory}'`);
    await refused(`select audit.visible_at('${ada}', '${before}')`).toMatchObject({ code: '0A000' });
  });

  it.each(['graph_app', 'graph_user', 'graph_basic', 'graph_oauth', 'graph_auditor'])('refuse %s', async (role) => {
    const call = (name: string) => undone(database.owner, `set local role ${role}`, `select ${name}`);
    const refusal = { code: '42501' };

    await expect(call(`audit.visible_at('${ada}', now())`)).rejects.toMatchObject(refusal);
    await expect(call(`audit.who_could('app_public.units', '${company.room}', now())`)).rejects.toMatchObject(refusal);
    await expect(call(`audit.rebuild(now(), null)`)).rejects.toMatchObject(refusal);
  });
});
