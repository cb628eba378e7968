import { hashToken } from '../../src/token/accessTokens.ts';
import { createEmptiedDatabase, type EmptiedDatabase } from '../support/emptiedDatabase.ts';
import { acme, apply, backend, everyRow, mobile, problemsOf } from './support.ts';

describe('provisioning applications', () => {
  let database: EmptiedDatabase;

  beforeAll(async () => {
    database = await createEmptiedDatabase();
  });

  afterEach(() => database.empty());

  afterAll(() => database.drop());

  const [first, second, third] = ['first', 'second', 'third'].map(
    (name) => `${name}-secret-of-more-than-32-characters`,
  );

  /** As the OAuth server gets them: the valid ones, newest first. */
  const validHashes = async (clientId = 'acme-backend'): Promise<Buffer[]> => {
    const { rows } = await database.owner.query('select secret_hashes from oauth.find_application($1)', [clientId]);
    return rows[0].secret_hashes;
  };
  const hashes = (...secrets: (string | undefined)[]) => secrets.map((secret) => hashToken(secret ?? ''));
  const applySecret = (clientSecret: string | undefined) =>
    apply(database.owner, acme({ applications: [{ ...backend, clientSecret }] }));

  it('makes a changed secret the newest of two, and forgets the third', async () => {
    await applySecret(first);
    await applySecret(second);
    expect(await validHashes()).toEqual(hashes(second, first));

    await applySecret(third);

    expect(await validHashes()).toEqual(hashes(third, second));
    expect((await database.owner.query('select from oauth.application_secrets')).rowCount).toBe(2);
  });

  it('leaves a secret that is one of the valid two already', async () => {
    await applySecret(first);
    await applySecret(second);
    const before = await everyRow(database.owner);

    await applySecret(first);
    await applySecret(second);

    expect(await everyRow(database.owner)).toEqual(before);
    expect(await validHashes()).toEqual(hashes(second, first));
  });

  it('makes up the secret of a confidential application that has none, and prints it only then', async () => {
    const { clientSecret: _, ...withoutSecret } = backend;
    const document = acme({ applications: [withoutSecret, mobile] });

    const [created] = (await apply(database.owner, document)).organizations;
    const [again] = (await apply(database.owner, document)).organizations;

    const generated = created?.applications[0]?.clientSecret;
    expect(generated).toMatch(/^gqs_cs_[\w-]{43}$/);
    expect(await validHashes()).toEqual(hashes(generated));
    expect(created?.applications[1]).toEqual({ name: 'Acme Mobile', clientId: 'acme-mobile' });
    expect(again?.applications[0]).toEqual({ name: 'Acme Backend', clientId: 'acme-backend' });
  });

  it('changes an application and leaves its secrets', async () => {
    await applySecret(first);

    const changed = {
      name: 'Renamed',
      clientId: 'acme-backend',
      scopes: ['basic', 'app', 'basic'],
      redirectUris: ['https://a.test/b'],
    };
    await apply(database.owner, acme({ applications: [changed] }));

    const { rows } = await database.owner.query('select name, scopes, redirect_uris from oauth.applications');
    expect(rows).toEqual([{ name: 'Renamed', scopes: ['app', 'basic'], redirect_uris: ['https://a.test/b'] }]);
    expect(await validHashes()).toEqual(hashes(first));
  });

  it("refuses another organization's client id", async () => {
    await applySecret(first);
    const before = await everyRow(database.owner);

    const problems = await problemsOf(database.owner, { organizations: [{ name: 'Other', applications: [backend] }] });

    expect(problems).toEqual(['organizations[0].applications[0].clientId: belongs to another organization']);
    expect(await everyRow(database.owner)).toEqual(before);
  });

  it('gives a public application neither a secret nor an application scope, also when it was public before', async () => {
    const problems = [
      'organizations[0].applications[0].clientSecret: must be absent: a public application has no secret',
      'organizations[0].applications[0].scopes: must be "me" alone for a public application',
    ];
    const { redirectUris: _, ...rest } = mobile;
    const wrong = { ...rest, clientSecret: first, scopes: ['app'] };
    expect(await problemsOf(database.owner, acme({ applications: [wrong] }))).toEqual(problems);
    const { scopes, ...defaults } = rest;
    expect(await problemsOf(database.owner, acme({ applications: [defaults] }))).toEqual([problems[1]]);

    await apply(database.owner, acme({ applications: [{ ...rest, scopes }] }));

    const { confidential: __, ...silent } = wrong;
    expect(await problemsOf(database.owner, acme({ applications: [silent] }))).toEqual(problems);
    await apply(database.owner, acme({ applications: [{ ...silent, confidential: true }] }));
    expect(await validHashes('acme-mobile')).toEqual(hashes(first));
  });
});
