import { createEmptiedDatabase, type EmptiedDatabase } from '../support/emptiedDatabase.ts';
import { acme, ada, apply, headquarters, valuesOf } from './support.ts';

describe('provisioning organizations', () => {
  let database: EmptiedDatabase;

  beforeAll(async () => {
    database = await createEmptiedDatabase();
  });

  afterEach(() => database.empty());

  afterAll(() => database.drop());

  const values = (statement: string) => valuesOf(database.owner, statement);

  it('keeps organizations apart: the same identifiers and addresses in two of them are two of each', async () => {
    const parts = { units: [headquarters], users: [ada] };

    await apply(database.owner, {
      organizations: [
        { name: 'Acme', ...parts },
        { name: 'Other', ...parts },
      ],
    });

    expect(await values('select count(distinct organization_id) from app_public.users')).toEqual(['2']);
    expect(
      await values(
        `select count(*) from app_hidden.unit_access a
         join app_public.users u on u.id = a.user_id join app_public.units n on n.id = a.unit_id
         where u.organization_id = n.organization_id`,
      ),
    ).toEqual(['2']);
  });

  it('creates what an organization lacks, though another one has the same', async () => {
    const parts = { units: [headquarters], users: [ada] };
    await apply(database.owner, acme(parts));
    const ofAcme = await values('select to_jsonb(u) from app_public.users u');

    await apply(database.owner, {
      organizations: [{ name: 'Other', ...parts, users: [{ ...ada, fullName: 'Ada Byron' }] }],
    });

    expect(await values('select full_name from app_public.users order by 1')).toEqual(['Ada Byron', 'Ada Lovelace']);
    expect(await values("select to_jsonb(u) from app_public.users u where full_name = 'Ada Lovelace'")).toEqual(ofAcme);
    expect(await values('select count(distinct id) from app_public.users')).toEqual(['2']);
    expect(await values('select count(distinct id) from app_public.units')).toEqual(['4']);
  });
});
