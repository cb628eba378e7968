import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createTenant,
  createUnit,
  createUser,
  expectErrors,
  type GraphTest,
  newExternalToken,
  read,
  type Tenant,
  type TestUser,
} from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
});

const userUpdate = `
  mutation Update(
    $id: ID, $externalIdentifier: String, $fullName: String, $email: String, $locale: String,
    $timeZone: String, $timezone: String, $externalAuthenticationToken: String
  ) {
    userUpdate(
      id: $id, externalIdentifier: $externalIdentifier, fullName: $fullName, email: $email, locale: $locale,
      timeZone: $timeZone, timezone: $timezone, externalAuthenticationToken: $externalAuthenticationToken
    ) {
      user { id fullName email locale timeZone externalIdentifier externalAuthenticationToken cardAssignments { id } }
    }
  }`;

const update = (variables: Record<string, unknown>, token = tenant.app) => ask(graph, token, userUpdate, variables);

/** The user that a successful update returns. */
const updated = async (variables: Record<string, unknown>) =>
  (await read<{ userUpdate: { user: Record<string, unknown> } }>(graph, tenant.app, userUpdate, variables)).userUpdate
    .user;

const expectRefusal = async (variables: Record<string, unknown>, code: string, argument?: string) =>
  expectErrors(
    await update(variables),
    { userUpdate: null },
    { code, ...(argument && { argument }), path: ['userUpdate'] },
  );

const stored = async ({ uuid }: TestUser) => {
  const { rows } = await graph.database.owner.query('select * from app_public.users where id = $1', [uuid]);
  return rows[0];
};

describe('userUpdate finds the user', () => {
  it('by id', async () => {
    const user = await createUser(tenant);

    expect(await updated({ id: user.id, fullName: 'Grace Hopper' })).toMatchObject({
      id: user.id,
      fullName: 'Grace Hopper',
    });
  });

  it('by external identifier, compared exactly, which stays as it is', async () => {
    const user = await createUser(tenant, { externalIdentifier: ' Exact ' });

    const { id, externalIdentifier } = await updated({ externalIdentifier: ' Exact ', fullName: 'Grace Hopper' });

    expect({ id, externalIdentifier }).toEqual({ id: user.id, externalIdentifier: ' Exact ' });
    await expectRefusal({ externalIdentifier: 'Exact', fullName: 'Nobody' }, 'NOT_FOUND');
    await expectRefusal({ externalIdentifier: ' exact ', fullName: 'Nobody' }, 'NOT_FOUND');
  });

  it('by external identifier when id is null', async () => {
    const user = await createUser(tenant, { externalIdentifier: 'null-id' });

    expect(await updated({ id: null, externalIdentifier: 'null-id' })).toMatchObject({ id: user.id });
  });

  it('only if one of the two is given', async () => {
    await expectRefusal({ fullName: 'Nobody' }, 'BAD_USER_INPUT', 'id');
    await expectRefusal({ externalIdentifier: null, fullName: 'Nobody' }, 'BAD_USER_INPUT', 'id');
    await expectRefusal({ id: null, externalIdentifier: null, fullName: 'Nobody' }, 'BAD_USER_INPUT', 'id');
  });

  it('only by an id that the service has issued for a user', async () => {
    const unit = await createUnit(tenant);

    for (const id of ['', 'garbage', 'VXNlcjox', '../../etc/passwd'])
      await expectRefusal({ id, fullName: 'Nobody' }, 'BAD_USER_INPUT', 'id');
    await expectRefusal({ id: unit.id, fullName: 'Nobody' }, 'NOT_FOUND');
  });

  it('only in the own organization, whose answer is that of a user who does not exist', async () => {
    const other = await createTenant(graph);
    const user = await createUser(other, { externalIdentifier: 'foreign' });

    await expectRefusal({ id: user.id, fullName: 'Mine' }, 'NOT_FOUND');
    await expectRefusal({ externalIdentifier: 'foreign', fullName: 'Mine' }, 'NOT_FOUND');
    await expectRefusal(
      { externalIdentifier: 'foreign', externalAuthenticationToken: newExternalToken() },
      'NOT_FOUND',
    );
    expect(await stored(user)).toMatchObject({ full_name: user.fullName });

    const answer = await update({ externalIdentifier: 'foreign', fullName: 'Theirs' }, other.app);
    expect(answer.body).toMatchObject({ data: { userUpdate: { user: { id: user.id, fullName: 'Theirs' } } } });
  });
});

describe('userUpdate changes', () => {
  it('every field that is given', async () => {
    const user = await createUser(tenant);
    const values = {
      fullName: 'Grace Hopper',
      email: 'grace@acme.test',
      locale: 'de-AT',
      timeZone: 'New York',
      externalIdentifier: 'u-grace',
      externalAuthenticationToken: newExternalToken(),
    };

    expect(await updated({ id: user.id, ...values })).toEqual({ id: user.id, ...values, cardAssignments: [] });
    expect(await stored(user)).toMatchObject({ full_name: 'Grace Hopper', external_identifier: 'u-grace' });
  });

  it('nothing that is left out', async () => {
    const before = {
      fullName: 'Grace Hopper',
      email: 'untouched@acme.test',
      locale: 'de',
      timeZone: 'Berlin',
      externalIdentifier: 'untouched',
      externalAuthenticationToken: newExternalToken(),
    };
    const user = await createUser(tenant, before);

    expect(await updated({ id: user.id })).toEqual({ id: user.id, ...before, cardAssignments: [] });
    expect(await updated({ externalIdentifier: 'untouched', locale: 'en' })).toEqual({
      id: user.id,
      ...before,
      locale: 'en',
      cardAssignments: [],
    });
  });

  it('the time zone in either spelling, and in both when they agree', async () => {
    const user = await createUser(tenant);

    expect(await updated({ id: user.id, timeZone: 'Berlin' })).toMatchObject({ timeZone: 'Berlin' });
    expect(await updated({ id: user.id, timezone: 'New York' })).toMatchObject({ timeZone: 'New York' });
    expect(await updated({ id: user.id, timeZone: 'Rome', timezone: 'Rome' })).toMatchObject({ timeZone: 'Rome' });
    await expectRefusal({ id: user.id, timeZone: 'Rome', timezone: 'Berlin' }, 'BAD_USER_INPUT', 'timezone');
  });

  it('an e-mail address to the same in another case', async () => {
    const user = await createUser(tenant, { email: 'shout@acme.test' });

    expect(await updated({ id: user.id, email: 'SHOUT@acme.test' })).toMatchObject({ email: 'SHOUT@acme.test' });
  });
});

describe('an explicit null', () => {
  it('clears the external identifier of a user found by id', async () => {
    const user = await createUser(tenant, { externalIdentifier: 'cleared' });

    expect(await updated({ id: user.id, externalIdentifier: null })).toMatchObject({ externalIdentifier: null });
    await expectRefusal({ externalIdentifier: 'cleared' }, 'NOT_FOUND');
  });

  it('clears the external authentication token of a user found by id or by external identifier', async () => {
    for (const found of ['id', 'externalIdentifier'] as const) {
      const user = await createUser(tenant, {
        externalIdentifier: `token-by-${found}`,
        externalAuthenticationToken: newExternalToken(),
      });

      const after = await updated({ [found]: user[found], externalAuthenticationToken: null });

      expect(after).toMatchObject({ id: user.id, externalAuthenticationToken: null });
      expect(await stored(user)).toMatchObject({
        external_identifier: `token-by-${found}`,
        external_authentication_token_ciphertext: null,
        external_authentication_token_hash: null,
      });
    }
  });

  it.each(['fullName', 'email', 'locale', 'timeZone', 'timezone'])('is refused for %s', async (argument) => {
    const user = await createUser(tenant, { externalIdentifier: `null-${argument}` });

    await expectRefusal({ id: user.id, [argument]: null }, 'BAD_USER_INPUT', argument);
    await expectRefusal({ externalIdentifier: user.externalIdentifier, [argument]: null }, 'BAD_USER_INPUT', argument);
  });
});

test('a user found by external identifier gets a new token and keeps everything else', async () => {
  const user = await createUser(tenant, { externalIdentifier: 'new-token', locale: 'de' });
  const token = newExternalToken();

  expect(await updated({ externalIdentifier: 'new-token', externalAuthenticationToken: token })).toEqual({
    id: user.id,
    fullName: user.fullName,
    email: user.email,
    locale: 'de',
    timeZone: 'UTC',
    externalIdentifier: 'new-token',
    externalAuthenticationToken: token,
    cardAssignments: [],
  });
});

test('a refused update leaves the user as it was', async () => {
  const user = await createUser(tenant);

  await expectRefusal({ id: user.id, fullName: 'Grace Hopper', locale: 'not a locale' }, 'BAD_USER_INPUT', 'locale');

  expect(await stored(user)).toMatchObject({ full_name: user.fullName, locale: 'en' });
});
