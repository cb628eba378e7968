import { randomBytes, randomUUID } from 'node:crypto';
import { reEncrypt } from '../../src/commands/admin/reEncrypt.ts';
import { createSecrets, isCheckedKey, type SecretKeyCheck } from '../../src/crypto/secrets.ts';
import { createEmptiedDatabase, type EmptiedDatabase } from '../support/emptiedDatabase.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { admin, expectDone, expectFailure } from './inProcess.ts';

const [oldKey, newKey, foreignKey] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const [underOld, underNew, underForeign] = [oldKey, newKey, foreignKey].map((key) => createSecrets([key])) as [
  ReturnType<typeof createSecrets>,
  ReturnType<typeof createSecrets>,
  ReturnType<typeof createSecrets>,
];
const keys = { SECRET_KEY: newKey.toString('base64'), SECRET_KEY_PREVIOUS: oldKey.toString('base64') };

let database: EmptiedDatabase;
let organizationId: string;
beforeAll(async () => {
  database = await createEmptiedDatabase();
});
beforeEach(async () => {
  const { rows } = await database.owner.query(`insert into app_hidden.organizations (name) values ('A') returning id`);
  organizationId = rows[0].id;
});
afterEach(() => database.empty());
afterAll(() => database.drop());

async function insertUser(secrets = underOld, token: string = randomUUID()): Promise<{ id: string; token: string }> {
  const id = randomUUID();
  await database.owner.query(
    `insert into app_public.users
       (organization_id, id, full_name, email, external_authentication_token_ciphertext, external_authentication_token_hash)
     values ($1, $2::uuid, 'Ada', $2::text || '@test', $3, $4)`,
    [
      organizationId,
      id,
      secrets.seal(token, { organizationId, userId: id }),
      secrets.lookupHash(token, organizationId),
    ],
  );
  return { id, token };
}

/** The user's token as SECRET_KEY alone opens it, found by its hash under that key. */
async function read(user: { id: string; token: string }): Promise<string | undefined> {
  const { rows } = await database.owner.query(
    `select external_authentication_token_ciphertext as ciphertext from app_public.users
     where id = $1 and external_authentication_token_hash = $2`,
    [user.id, underNew.lookupHash(user.token, organizationId)],
  );
  return rows[0] && underNew.open(rows[0].ciphertext, { organizationId, userId: user.id });
}

const run = (environment: Record<string, string> = keys) => admin(database, ['re-encrypt'], environment);

test('moves every token to the new key, once', async () => {
  const old = await Promise.all(Array.from({ length: 3 }, () => insertUser()));
  const current = await insertUser(underNew);
  await database.owner.query(
    `insert into app_public.users (organization_id, full_name, email) values ($1, 'B', 'b@test')`,
    [organizationId],
  );

  expect(expectDone(await run())).toEqual({ reEncrypted: 3, current: 1, failed: [] });

  for (const user of [...old, current]) expect(await read(user)).toBe(user.token);
  expect(expectDone(await run())).toEqual({ reEncrypted: 0, current: 4, failed: [] });
});

test('goes through more users than fit into a batch', async () => {
  const { rows } = await database.owner.query(
    `insert into app_public.users (organization_id, full_name, email)
     select $1, 'User', number || '@test' from generate_series(1, 1100) as number returning id`,
    [organizationId],
  );
  const tokens = rows.map(({ id }) => ({
    id,
    ciphertext: underOld.seal(`token of ${id}`, { organizationId, userId: id }).toString('hex'),
    hash: underOld.lookupHash(`token of ${id}`, organizationId).toString('hex'),
  }));
  await database.owner.query(
    `update app_public.users u set external_authentication_token_ciphertext = decode(ciphertext, 'hex'),
       external_authentication_token_hash = decode(hash, 'hex')
     from jsonb_to_recordset($1) as given (id uuid, ciphertext text, hash text) where u.id = given.id`,
    [JSON.stringify(tokens)],
  );

  expect(await reEncrypt(database.owner, [newKey, oldKey])).toEqual({ reEncrypted: 1100, current: 0, failed: [] });

  const last = { id: rows[1099].id, token: `token of ${rows[1099].id}` };
  expect(await read(last)).toBe(last.token);
});

test('reads a token again that is set or cleared meanwhile', async () => {
  const [left, changed, cleared] = [await insertUser(), await insertUser(), await insertUser()];
  const other = await database.owner.connect();
  await other.query('begin');
  const set = (user: { id: string; token: string }, secrets = underOld) =>
    other.query(
      `update app_public.users
       set external_authentication_token_ciphertext = $2, external_authentication_token_hash = $3 where id = $1`,
      [
        user.id,
        secrets.seal(user.token, { organizationId, userId: user.id }),
        secrets.lookupHash(user.token, organizationId),
      ],
    );
  const replaced = { id: changed.id, token: 'another token by an older server' };
  await set(replaced);
  await other.query(
    `update app_public.users set external_authentication_token_ciphertext = null, external_authentication_token_hash = null
     where id = $1`,
    [cleared.id],
  );

  const moving = reEncrypt(database.owner, [newKey, oldKey]);
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(async () => (await database.owner.query(waiting)).rowCount === 1);
  await other.query('commit');
  other.release();

  expect(await moving).toEqual({ reEncrypted: 2, current: 0, failed: [] });
  expect(await read(left)).toBe(left.token);
  expect(await read(replaced)).toBe(replaced.token);
});

test('says whose token opens under neither key or is taken, moves all others, and fails', async () => {
  const good = [await insertUser(), await insertUser()];
  const foreign = await insertUser(underForeign);
  const holder = await insertUser(underNew);
  const twin = await insertUser(underOld, holder.token);

  const outcome = await run();

  expect(outcome.code).toBe(1);
  expect(outcome.stderr).toContain("2 tokens or secrets open under neither key, or are another user's already.");
  expect(outcome.result).toEqual({
    reEncrypted: 2,
    current: 1,
    failed: expect.arrayContaining([foreign.id, twin.id]),
  });
  for (const user of good) expect(await read(user)).toBe(user.token);
  expect(JSON.stringify(outcome)).not.toContain(holder.token);
});

test('refuses to run without the key before', async () => {
  await insertUser();

  expectFailure(await run({ SECRET_KEY: keys.SECRET_KEY }), 'Set SECRET_KEY_PREVIOUS to the key before SECRET_KEY.');
});

test('without the key before, which is lost, says what does not open, and the service starts with the new one', async () => {
  await (await startTestService(database, { SECRET_KEY: oldKey.toString('base64') })).stop();
  const [lost, current] = [await insertUser(), await insertUser(underNew)];
  const newOnly = { SECRET_KEY: keys.SECRET_KEY };
  await expect(startTestService(database, newOnly)).rejects.toThrow(/re-encrypt --lost-key/);

  const outcome = await admin(database, ['re-encrypt', '--lost-key'], newOnly);

  expect([outcome.code, outcome.result]).toEqual([1, { reEncrypted: 0, current: 1, failed: [lost.id] }]);
  expect(await read(current)).toBe(current.token);
  await (await startTestService(database, newOnly)).stop();
});

test('purge deletes what expired and says how much, unless another process is at it', async () => {
  await database.owner.query(
    `insert into oauth.throttles (key, points, expire) values ('test:' || repeat('0', 43), 1, 1)`,
  );
  const other = await database.owner.connect();
  await other.query(`begin; select pg_advisory_xact_lock(hashtextextended('oauth.purge', 0))`);

  expectFailure(await admin(database, ['purge']), 'Another process is purging right now.');
  await other.query('commit');
  other.release();

  expect(expectDone(await admin(database, ['purge']))).toMatchObject({ accessTokens: 0, throttles: 1 });
});

test('moves the secrets of webhooks, also those that are rotated', async () => {
  const webhookId = randomUUID();
  const owner = { organizationId, webhookId };
  const insert = (id: string, secret: Buffer, previous: Buffer | null) =>
    database.owner.query(
      `insert into app_public.webhooks
         (organization_id, id, url, secret_ciphertext, previous_secret_ciphertext, previous_valid_until)
       values ($1, $2, 'https://example.com', $3, $4, case when $4::bytea is not null then now() end)`,
      [organizationId, id, secret, previous],
    );
  await insert(webhookId, underOld.sealWebhookSecret('whsec_b', owner), underOld.sealWebhookSecret('whsec_a', owner));
  const [current, lost] = [randomUUID(), randomUUID()];
  await insert(current, underNew.sealWebhookSecret('whsec_c', { organizationId, webhookId: current }), null);
  await insert(lost, underForeign.sealWebhookSecret('whsec_d', { organizationId, webhookId: lost }), null);

  const outcome = await run();
  expect([outcome.code, outcome.result]).toEqual([1, { reEncrypted: 2, current: 1, failed: [lost] }]);

  const { rows } = await database.owner.query(
    'select secret_ciphertext as secret, previous_secret_ciphertext as previous from app_public.webhooks where id = $1',
    [webhookId],
  );
  expect([rows[0].secret, rows[0].previous].map((sealed) => underNew.openWebhookSecret(sealed, owner))).toEqual([
    'whsec_b',
    'whsec_a',
  ]);
});

test('the database then knows the new key as its own, unless something could not be moved', async () => {
  const read = async () => {
    const { rows } = await database.owner.query<SecretKeyCheck>(
      'select salt, checksum from app_hidden.secret_key_check',
    );
    return rows[0] as SecretKeyCheck;
  };
  const service = await startTestService(database, { SECRET_KEY: oldKey.toString('base64') });
  await service.stop();
  const noted = await read();
  expect([oldKey, newKey].map((key) => isCheckedKey(key, noted))).toEqual([true, false]);
  // A later service under another key changes nothing.
  await (await startTestService(database, keys)).stop();
  expect(await read()).toEqual(noted);

  const foreign = await insertUser(underForeign);
  expect((await run()).code).toBe(1);
  expect(await read()).toEqual(noted);

  await database.owner.query('delete from app_public.users where id = $1', [foreign.id]);
  expectDone(await run());
  const changed = await read();
  expect([oldKey, newKey].map((key) => isCheckedKey(key, changed))).toEqual([false, true]);
});
