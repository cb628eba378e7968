import { shareService } from '../support/sharedService.ts';
import { type Answer, ask, createTenant, createUser, expectErrors, type GraphTest, type Tenant } from './support.ts';

// The rules for a user's values. They are the same for userCreate and userUpdate, so each case tries both.

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
});

type Mutation = 'userCreate' | 'userUpdate';
const mutations: Mutation[] = ['userCreate', 'userUpdate'];

/** The mutation with one value to look at, beside whatever else it needs. */
async function run(mutation: Mutation, argument: string, value: string): Promise<Answer> {
  const user = { fullName: 'Ada Lovelace', email: 'ada@acme.test' };
  const others =
    mutation === 'userCreate'
      ? Object.entries(user).filter(([name]) => name !== argument)
      : [['id', (await createUser(tenant)).id] as const];
  const values = Object.fromEntries([...others, [argument, value] as const]);
  const types = { fullName: 'String!', email: 'String!', id: 'ID' } as Record<string, string>;
  const declared = Object.keys(values).map((name) => `$${name}: ${types[name] ?? 'String'}`);
  const passed = Object.keys(values).map((name) => `${name}: $${name}`);
  return ask(
    graph,
    tenant.app,
    `mutation(${declared}) { ${mutation}(${passed}) { user { ${argument === 'timezone' ? 'timezone: timeZone' : argument} } } }`,
    values,
  );
}

async function expectAccepted(argument: string, value: string, stored = value): Promise<void> {
  for (const mutation of mutations) {
    tenant = await createTenant(graph);
    const { status, body } = await run(mutation, argument, value);
    expect({ status, ...body }).toEqual({ status: 200, data: { [mutation]: { user: { [argument]: stored } } } });
  }
}

async function expectRefused(argument: string, value: string, blamed = argument, code = 'BAD_USER_INPUT') {
  for (const mutation of mutations) {
    const answer = await run(mutation, argument, value);
    expectErrors(answer, { [mutation]: null }, { code, argument: blamed, path: [mutation] });
  }
}

// Outside the Basic Multilingual Plane: one character, two UTF-16 code units, four bytes.
const grin = '😀';
const texts = ['fullName', 'email', 'locale', 'timeZone', 'externalIdentifier', 'externalAuthenticationToken'];

describe('fullName', () => {
  it.each([
    ['is trimmed', ' \t\u00a0Ada Lovelace\u3000\r\n', 'Ada Lovelace'],
    ['keeps the spaces inside', 'Ada  Lovelace', 'Ada  Lovelace'],
    ['has 1 character at least', 'A', 'A'],
    ['has 200 characters at most, counted as Unicode code points', grin.repeat(200), grin.repeat(200)],
    ['has 200 characters after trimming', ` ${'a'.repeat(200)} `, 'a'.repeat(200)],
  ])('%s', (_rule, value, stored) => expectAccepted('fullName', value, stored));

  it.each([
    ['empty', ''],
    ['only white space', ' \t\u00a0\u2028'],
    ['longer than 200 characters', grin.repeat(201)],
    ['with a line break inside', 'Ada\nLovelace'],
    ['with an escape character', 'Ada\u001b[31mLovelace'],
    ['with a delete character', 'Ada\u007f'],
    ['with a C1 control character', 'Ada\u0090Lovelace'],
  ])('is not %s', (_rule, value) => expectRefused('fullName', value));
});

describe('email', () => {
  const local = 'a'.repeat(254 - '@acme.test'.length);

  it.each([
    ['is trimmed', ' ada@acme.test\n', 'ada@acme.test'],
    ['keeps its case', 'Ada.Lovelace+x@Acme.Test', 'Ada.Lovelace+x@Acme.Test'],
    ['may have letters of any script', 'жан@пошта.укр', 'жан@пошта.укр'],
    ['has 254 characters at most', `${local}@acme.test`, `${local}@acme.test`],
  ])('%s', (_rule, value, stored) => expectAccepted('email', value, stored));

  it.each([
    ['longer than 254 characters', `a${local}@acme.test`],
    ['empty', ''],
    ['without @', 'ada.acme.test'],
    ['with nothing before @', '@acme.test'],
    ['with nothing after @', 'ada@'],
    ['with two @', 'ada@home@acme.test'],
    ['with a space', 'ada lovelace@acme.test'],
    ['with a no-break space', 'ada\u00a0lovelace@acme.test'],
    ['with an ideographic space', 'ada@acme\u3000.test'],
    ['with a control character', 'ada\u0007@acme.test'],
  ])('is not %s', (_rule, value) => expectRefused('email', value));
});

describe('locale', () => {
  it.each(['de', 'de-AT', 'DE-at', 'fil', 'es-419', 'zh-Hant-TW', 'sl-rozaj-biske', 'en-US-u-hc-h12', 'x-acme'])(
    'may be %s, kept as it is given',
    (value) => expectAccepted('locale', value),
  );

  it.each([
    '',
    ' ',
    'd',
    'german language',
    'de_AT',
    'de-',
    '-de',
    'de-AT-',
    ' de',
    'de\n',
    'en-US-u',
    'a'.repeat(201),
  ])('is not %j', (value) => expectRefused('locale', value));
});

describe.each(['timeZone', 'timezone'])('%s', (argument) => {
  it.each([
    'Europe/Berlin',
    'America/Argentina/Buenos_Aires',
    'UTC',
    'Etc/GMT+1',
    'Berlin',
    'New York',
    'Buenos Aires',
    'europe/BERLIN',
    'new_york',
    'São Paulo',
    'Sa\u0303o_Paulo',
    'sao paulo',
    'Beijing',
    'Edinburgh',
    'Osaka',
    "St. John's",
  ])('may be %s, kept as it is given', (value) => expectAccepted(argument, value));

  it.each(['', 'Mars', 'Europe', 'New-York', ' Berlin', 'GMT+25', '../../etc/passwd', `Berlin${'\u0301'.repeat(95)}`])(
    'is not %j',
    (value) => expectRefused(argument, value, 'timeZone'),
  );

  it.each([
    ['Brelin', '; did you mean "Berlin"?'],
    ['europe/belrin', '; did you mean "Europe/Berlin"?'],
    ['Sao Paolo', '; did you mean "Sao Paulo"?'],
    ['Bejing', '; did you mean "Beijing"?'],
    ['€', '.'],
  ])('%s: the refusal suggests the nearest', async (value, suggestion) => {
    const { body } = await run('userUpdate', argument, value);

    expect(body.errors?.[0]?.message).toBe(
      `A time zone is an IANA name, such as "Europe/Berlin", or the city alone, such as "Berlin"${suggestion}`,
    );
  });
});

describe('externalIdentifier', () => {
  it.each([
    ['keeps the spaces around it', '  u-1 '],
    ['may be one space', ' '],
    ['may have any character that Unicode assigns', 'a\tb\u0007\u200d"\\'],
    ['has 200 characters at most, counted as Unicode code points', grin.repeat(200)],
  ])('%s', (_rule, value) => expectAccepted('externalIdentifier', value));

  it.each([
    ['empty', ''],
    ['longer than 200 characters', grin.repeat(201)],
  ])('is not %s', (_rule, value) => expectRefused('externalIdentifier', value));
});

describe('externalAuthenticationToken', () => {
  it.each([
    ['has 16 characters at least', 'a'.repeat(16)],
    ['counts Unicode code points', grin.repeat(16)],
    ['has 500 characters at most', grin.repeat(500)],
    ['keeps the spaces around it', `  ${'a'.repeat(16)} `],
  ])('%s', (_rule, value) => expectAccepted('externalAuthenticationToken', value));

  it.each([
    ['empty', ''],
    ['shorter than 16 characters', 'a'.repeat(15)],
    ['shorter than 16 code points', grin.repeat(15)],
    ['longer than 500 characters', 'a'.repeat(501)],
  ])('is not %s', (_rule, value) => expectRefused('externalAuthenticationToken', value));
});

describe.each(texts)('%s', (argument) => {
  it.each([
    ['NUL', 'sixteen characters\0 and more'],
    ['the first half of a surrogate pair', 'sixteen characters\ud83d and more'],
    ['the second half of one', 'sixteen characters\ude00 and more'],
  ])('does not contain %s', (_what, value) => expectRefused(argument, value));
});

describe('unique within the organization', () => {
  const email = 'unique@acme.test';
  const externalIdentifier = 'unique';
  const externalAuthenticationToken = 'unique-authentication-token';

  it.each([
    ['externalIdentifier', externalIdentifier],
    ['externalAuthenticationToken', externalAuthenticationToken],
    ['email', email],
    ['email', email.toUpperCase()],
    ['email', ` ${email} `],
  ])('is %s, such as %j', async (argument, value) => {
    await createUser(tenant, { email, externalIdentifier, externalAuthenticationToken });

    await expectRefused(argument, value, argument, 'CONFLICT');
  });

  it('is email, whatever the case of any letter', async () => {
    await createUser(tenant, { email: 'ЖАН@acme.test' });

    await expectRefused('email', 'жан@acme.test', 'email', 'CONFLICT');
  });

  it('differs in case or spaces: then an external identifier is another', async () => {
    await createUser(tenant, { externalIdentifier });

    for (const value of ['Unique', 'unique ', ' unique']) {
      const { body } = await run('userCreate', 'externalIdentifier', value);
      expect(body).toEqual({ data: { userCreate: { user: { externalIdentifier: value } } } });
      await graph.database.owner.query("delete from app_public.users where email = 'ada@acme.test'");
    }
  });

  it('says nothing about another organization, in which the same values are free', async () => {
    const other = await createTenant(graph);
    await createUser(other, { email, externalIdentifier, externalAuthenticationToken });

    await expectAccepted('email', email);
    await expectAccepted('externalIdentifier', externalIdentifier);
    await expectAccepted('externalAuthenticationToken', externalAuthenticationToken);
  });

  it('does not limit how many users have no external identifier and no token', async () => {
    await createUser(tenant);

    const { body } = await run('userCreate', 'email', 'second@acme.test');

    expect(body.errors).toBeUndefined();
  });
});
