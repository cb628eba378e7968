import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';
import {
  ask,
  createCard,
  createTenant,
  createUnit,
  createUser,
  expectRefused,
  read,
  type Tenant,
  type TestUser,
} from './support.ts';

const most = 20_000;
let database: TestDatabase;
let compiled: TestService;
let executed: TestService;
let tenant: Tenant;
let user: TestUser;
beforeAll(async () => {
  database = await createTestDatabase();
  compiled = await startTestService(database, { LIMIT_BYTES: `${most}` });
  executed = await startTestService(database, { LIMIT_BYTES: `${most}`, COMPILATION: 'false' });
  tenant = await createTenant({ database });
  // Characters of one to four bytes, and texts that a writer treats in each of its ways.
  const names = ['plain', 'é'.repeat(40), 'ж'.repeat(99), '😀'.repeat(60), `"\\${'x'.repeat(150)}`];
  for (const fullName of names) {
    user = await createUser(tenant, { fullName });
    await createCard(tenant, user, { type: 'IdentificationCode', name: fullName });
  }
  const root = await createUnit(tenant, { name: 'Root' });
  for (const name of names) await createUnit(tenant, { name, parent: root });
});
afterAll(async () => {
  await compiled.stop();
  await executed.stop();
  await database.drop();
});

/** A document whose answer grows by a byte with each unit of the padding. */
const padded = (selection: string, padding: number) => `{ app { ${selection} ${'p'.repeat(padding)}: __typename } }`;

const lengthOf = ({ body }: { body: object }) => Buffer.byteLength(JSON.stringify(body));

const shapes: [what: string, selection: string][] = [
  ['a list', 'users { nodes { id fullName email } }'],
  ['edges', 'users { totalCount edges { cursor node { fullName } } pageInfo { endCursor hasNextPage } }'],
  ['lists in lists', 'rootUnits { nodes { name children { nodes { name parent { name } } } } }'],
  [
    'inline fragments',
    'users { nodes { cardAssignments { card { __typename ... on IdentificationCode { name } } } } }',
  ],
  ['several lists', 'a: users { nodes { fullName } } b: users { nodes { fullName } } rootUnits { nodes { name } }'],
  ['no list', 'name'],
  [
    'a list of another thread',
    'a: users(first: 1000) { nodes { id } } b: users(first: 1000) { nodes { fullName } } c: users(first: 1000) { nodes { id } } d: users(first: 1000) { nodes { id } }',
  ],
];

describe.each([
  ['compiled', () => compiled],
  ['by Grafast', () => executed],
])('an answer that is written %s', (_how, service) => {
  test.each(shapes)('has as many bytes as the limit says, and not one more: %s', async (_what, selection) => {
    const short = await ask(service(), tenant.app, padded(selection, 1));
    const padding = most - lengthOf(short) + 1;

    const longest = await ask(service(), tenant.app, padded(selection, padding));
    const refused = await ask(service(), tenant.app, padded(selection, padding + 1));

    expect(longest.body.errors).toBeUndefined();
    expect(lengthOf(longest)).toBe(most);
    expectRefused(refused, 400, { code: 'LIMIT_EXCEEDED', limit: 'bytes' });
  });

  test('names of fields count, too', async () => {
    const name = 'n'.repeat(4000);
    const selection = (rows: number) => `users(first: ${rows}) { nodes { ${name}: id } }`;

    await read(service(), tenant.app, padded(selection(4), 1));
    expectRefused(await ask(service(), tenant.app, padded(selection(5), 1)), 400, {
      code: 'LIMIT_EXCEEDED',
      limit: 'bytes',
    });
  });

  test('a change is carried through, and its answer says so when it would be too long', async () => {
    const change = (fullName: string, aliasLength: number) => {
      const names = Array.from({ length: 40 }, (_, index) => `${`a${index}`.padEnd(aliasLength, '_')}: fullName`);
      return `mutation { userUpdate(id: "${user.id}", fullName: "${fullName}") { user { ${names.join(' ')} } } }`;
    };
    const nameOf = async () =>
      (await database.owner.query('select full_name from app_public.users where id = $1', [user.uuid])).rows[0]
        .full_name;

    const long = await ask(service(), tenant.app, change('Long', 500));

    expect({ status: long.status, body: long.body }).toEqual({
      status: 200,
      body: {
        data: null,
        errors: [
          {
            message: expect.stringMatching(/ What the mutation changed stays changed/),
            extensions: expect.objectContaining({ code: 'LIMIT_EXCEEDED', limit: 'bytes' }),
          },
        ],
      },
    });
    expect(await nameOf()).toBe('Long');
    expect((await ask(service(), tenant.app, change('Short', 5))).body.errors).toBeUndefined();
    expect(await nameOf()).toBe('Short');
  });
});
