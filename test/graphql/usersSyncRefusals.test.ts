import { shareService } from '../support/sharedService.ts';
import { ask, createTenant, type GraphTest, newExternalToken, type Tenant } from './support.ts';
import { ada, bob, syncUsers, userRows } from './sync.ts';

// The rows of usersSync that are refused, and why.

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
});

const sync = (users: object[], dryRun?: boolean) => syncUsers(graph, tenant, users, dryRun);
const rows = () => userRows(tenant);

describe('usersSync', () => {
  it('refuses a row by itself, in the words of userCreate', async () => {
    await sync([ada]);
    const bad: [argument: string, value: string][] = [
      ['locale', 'german language'],
      ['timeZone', 'Brelin'],
      ['email', 'no address'],
      ['email', ADA],
      ['fullName', ' '],
      ['fullName', 'a\u0007b'],
      ['fullName', 'a'.repeat(201)],
      ['externalIdentifier', ''],
      ['externalIdentifier', 'a'.repeat(201)],
      ['externalAuthenticationToken', 'too short'],
    ];
    for (const [argument, value] of bad) {
      const row = { ...bob, externalIdentifier: 'bob', [argument]: value };

      const { errors } = await create(row);
      const [good, refused] = await sync([{ externalIdentifier: 'ada' }, row]);

      expect({ ...refused?.error }).toEqual({ ...told(errors?.[0]), argument });
      expect(refused?.outcome).toBe('REFUSED');
      expect(good?.outcome).toBe('UNCHANGED');
    }
    expect(Object.keys(await rows())).toEqual(['ada']);
    expect((await sync([bob]))[0]?.outcome).toBe('CREATED');
  });

  it('refuses null where userUpdate does, in its words, and takes it for absent in a new user', async () => {
    await sync([ada]);
    for (const argument of ['fullName', 'email', 'locale', 'timeZone']) {
      const query = `mutation { userUpdate(externalIdentifier: "ada", ${argument}: null) { user { id } } }`;
      const { body } = await ask(graph, tenant.app, query);

      const [refused] = await sync([{ externalIdentifier: 'ada', [argument]: null }]);

      expect(refused?.error).toEqual(told(body.errors?.[0]));
    }
    expect(await sync([{ ...bob, locale: null, timeZone: null, accessibleUnits: null }])).toMatchObject([
      { outcome: 'CREATED', user: { locale: 'en', timeZone: 'UTC' } },
    ]);
  });

  it('asks for the name and the address of a new user', async () => {
    const results = await sync([
      { externalIdentifier: 'ada', email: 'ada@acme.test' },
      { externalIdentifier: 'bob', fullName: 'Bob' },
    ]);

    expect(results.map(({ error }) => [error?.code, error?.argument])).toEqual([
      ['BAD_USER_INPUT', 'fullName'],
      ['BAD_USER_INPUT', 'email'],
    ]);
  });

  it('refuses the later of two rows of one user, one address or one token', async () => {
    const token = newExternalToken();

    const results = await sync([
      { ...ada, externalAuthenticationToken: token },
      { externalIdentifier: 'ada', fullName: 'Again' },
      { ...bob, email: 'ADA@acme.test' },
      { externalIdentifier: 'eve', fullName: 'Eve', email: 'eve@acme.test', externalAuthenticationToken: token },
    ]);

    expect(results.map(({ outcome, error }) => [outcome, error?.code, error?.argument])).toEqual([
      ['CREATED', undefined, undefined],
      ['REFUSED', 'CONFLICT', 'externalIdentifier'],
      ['REFUSED', 'CONFLICT', 'email'],
      ['REFUSED', 'CONFLICT', 'externalAuthenticationToken'],
    ]);
    expect(Object.keys(await rows())).toEqual(['ada']);
  });

  it('refuses no row for what a refused one wants', async () => {
    const token = newExternalToken();
    const named = (name: string) => ({ externalIdentifier: name, fullName: name, email: `${name}@acme.test` });

    const results = await sync([
      ada,
      { ...bob, email: ada.email, externalAuthenticationToken: token },
      { ...named('eve'), externalAuthenticationToken: token },
      { ...named('dan'), email: 'EVE@acme.test' },
      { ...named('fay'), externalAuthenticationToken: token },
    ]);

    expect(results.map(({ outcome, error }) => [outcome, error?.argument])).toEqual([
      ['CREATED', undefined],
      ['REFUSED', 'email'],
      ['CREATED', undefined],
      ['REFUSED', 'email'],
      ['REFUSED', 'externalAuthenticationToken'],
    ]);
    expect(Object.keys(await rows()).sort()).toEqual(['ada', 'eve']);
  });
});

const ADA = 'ADA@acme.test';

type Told = { message: string; extensions: { code: string; argument?: string } };

const told = (error: Told | undefined) => ({
  code: error?.extensions.code,
  argument: error?.extensions.argument,
  message: error?.message,
});

async function create(row: object) {
  const query = `mutation($fullName: String!, $email: String!, $locale: String, $timeZone: String, $externalIdentifier: String, $externalAuthenticationToken: String) {
    userCreate(fullName: $fullName, email: $email, locale: $locale, timeZone: $timeZone, externalIdentifier: $externalIdentifier, externalAuthenticationToken: $externalAuthenticationToken) { user { id } } }`;
  return (await ask(graph, tenant.app, query, { ...row })).body;
}
