import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { acme, ada, apply, backend, badge, example, pathsOf, phone, user } from './support.ts';

const chip = { type: 'NfcCard', name: 'n', nfcIdentifier: '00112233' };
const beacon = { ...phone, name: 'n', minor: 2 };

describe('what is wrong with a document', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    await apply(database.owner, example);
  });

  afterAll(() => database.drop());

  const inUser = (path: string) => `organizations[0].users[0].${path}`;
  const inApplication = (path: string) => `organizations[0].applications[0].${path}`;
  const ofUser = (fields: object) => pathsOf(database.owner, acme({ users: [{ ...user('u-9'), ...fields }] }));
  const ofApplication = (fields: object) =>
    pathsOf(database.owner, acme({ applications: [{ ...backend, ...fields }] }));

  it.each([
    ['a text that is empty but for spaces', { fullName: ' \t\n' }, 'fullName'],
    ['a text of 201 characters', { fullName: 'x'.repeat(201) }, 'fullName'],
    ['a control character', { fullName: 'a\u0007b' }, 'fullName'],
    ['half a character', { fullName: 'a\ud800b' }, 'fullName'],
    ['two @', { email: 'a@b@c' }, 'email'],
    ['a space in an address', { email: 'a b@c' }, 'email'],
    ['an address of 255 characters', { email: `${'x'.repeat(250)}@a.de` }, 'email'],
    ['a locale that is none', { locale: 'en_US' }, 'locale'],
    ['a null that nothing clears', { locale: null }, 'locale'],
    ['an external identifier of 201 characters', { externalIdentifier: 'x'.repeat(201) }, 'externalIdentifier'],
    ['an empty external identifier', { externalIdentifier: '' }, 'externalIdentifier'],
    ['a NUL', { externalIdentifier: 'a\0b' }, 'externalIdentifier'],
    ['a number for a text', { externalIdentifier: 5 }, 'externalIdentifier'],
    ['a token of 15 characters', { externalAuthenticationToken: 'x'.repeat(15) }, 'externalAuthenticationToken'],
    ['a token of 501 characters', { externalAuthenticationToken: 'x'.repeat(501) }, 'externalAuthenticationToken'],
    ['a password of 7 characters', { password: 'x'.repeat(7) }, 'password'],
    ['a password of 201 characters', { password: 'x'.repeat(201) }, 'password'],
    ['an unknown key', { timezone: 'Berlin' }, 'timezone'],
    ['a card of no type', { cards: [{ name: 'Badge' }] }, 'cards[0].type'],
    ['a card of another type', { cards: [{ type: 'Badge', name: 'Badge' }] }, 'cards[0].type'],
    ['a card without a name', { cards: [{ type: 'IdentificationCode' }] }, 'cards[0].name'],
    [
      'an identifier of 5 bytes',
      { cards: [{ type: 'NfcCard', name: 'n', nfcIdentifier: '0011223344' }] },
      'cards[0].nfcIdentifier',
    ],
    ['a UUID that is none', { cards: [{ ...phone, proximityUuid: 'f7826da6' }] }, 'cards[0].proximityUuid'],
    ['a major value of 65536', { cards: [{ ...phone, major: 65536 }] }, 'cards[0].major'],
    ['a minor value below 0', { cards: [{ ...phone, minor: -1 }] }, 'cards[0].minor'],
    ["another type's field", { cards: [{ type: 'IdentificationCode', name: 'n', major: 1 }] }, 'cards[0].major'],
    ['the same card twice', { cards: [beacon, { ...beacon, minor: 1 }] }, 'cards[1].name'],
    [
      'the same external identifier twice',
      {
        cards: [
          { ...chip, externalIdentifier: 'c' },
          { ...beacon, externalIdentifier: 'c' },
        ],
      },
      'cards[1].externalIdentifier',
    ],
    [
      'an empty external identifier of a card',
      { cards: [{ ...chip, externalIdentifier: '' }] },
      'cards[0].externalIdentifier',
    ],
    [
      "another user's chip under an external identifier",
      { cards: [{ ...badge, externalIdentifier: 'c' }] },
      'cards[0].nfcIdentifier',
    ],
    ['the same chip twice', { cards: [chip, { ...chip, name: 'm' }] }, 'cards[1].nfcIdentifier'],
    ['the same beacon twice', { cards: [beacon, { ...beacon, name: 'm' }] }, 'cards[1].proximityUuid'],
    [
      "another user's chip",
      { cards: [{ ...badge, nfcIdentifier: badge.nfcIdentifier.toLowerCase() }] },
      'cards[0].nfcIdentifier',
    ],
    ["another user's beacon", { cards: [phone] }, 'cards[0].proximityUuid'],
    ['a unit that is nowhere', { accessibleUnits: ['hq', 'moon'] }, 'accessibleUnits[1]'],
    ['a time zone that is nowhere', { timeZone: 'Moon/Tycho' }, 'timeZone'],
    ["another user's address", { email: 'ADA@acme.test' }, 'email'],
    [
      "another user's token",
      { externalAuthenticationToken: ada.externalAuthenticationToken },
      'externalAuthenticationToken',
    ],
  ])('is where it is: %s of a user', async (_, fields, path) => {
    expect(await ofUser(fields)).toEqual([inUser(path)]);
  });

  it.each([
    ['a client id with a space', { clientId: 'a b' }, 'clientId'],
    ['a client id with a colon', { clientId: 'a:b' }, 'clientId'],
    ['a secret of 31 characters', { clientSecret: 'x'.repeat(31) }, 'clientSecret'],
    ['an unknown scope', { scopes: ['app', 'admin'] }, 'scopes[1]'],
    ['no scope', { scopes: [] }, 'scopes'],
    ['a redirect with a fragment', { redirectUris: ['https://a.test/#'] }, 'redirectUris[0]'],
    ['a relative redirect', { redirectUris: ['/callback'] }, 'redirectUris[0]'],
    ['http elsewhere than on this machine', { redirectUris: ['http://a.test/'] }, 'redirectUris[0]'],
    ["a scheme that is no app's own", { redirectUris: ['javascript:alert(1)'] }, 'redirectUris[0]'],
    [
      '51 redirects',
      { redirectUris: Array.from({ length: 51 }, (_, index) => `https://a.test/${index}`) },
      'redirectUris',
    ],
    ['another kind of mobile app', { mobileApp: { authenticationType: 'none' } }, 'mobileApp.authenticationType'],
  ])('is where it is: %s of an application', async (_, fields, path) => {
    expect(await ofApplication(fields)).toEqual([inApplication(path)]);
  });
});
