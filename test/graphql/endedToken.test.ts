import { createToken, hashToken } from '../../src/token/accessTokens.ts';
import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createTenant,
  createUnit,
  createUser,
  expectRefused,
  type GraphTest,
  read,
  type Tenant,
} from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
  await createUser(tenant, { externalIdentifier: 'u-1', fullName: 'Grace Hopper' });
});

const change = 'mutation { userUpdate(externalIdentifier: "u-1", fullName: "Somebody Else") { user { fullName } } }';

/** As the service comes to know a token by a request. */
async function issueKnown(): Promise<string> {
  const token = createToken('access');
  await tenant.owner.query(
    `insert into oauth.access_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at)
     select organization_id, $1, grant_id, scopes, now(), expires_at from oauth.access_tokens where token_hash = $2`,
    [hashToken(token), hashToken(tenant.app)],
  );
  await read(graph, token, '{ app { name } }');
  return token;
}

const end = (token: string) =>
  tenant.owner.query('delete from oauth.access_tokens where token_hash = $1', [hashToken(token)]);

describe('a token that has ended since the request before opens nothing', () => {
  it.each([
    ['a query', '{ app { users { nodes { fullName } } } }'],
    [
      'several statements',
      '{ app { name } node(id: "VW5pdDowMTkwMDAwMC0wMDAwLTczMDAtODAwMC0wMDAwMDAwMDAwMDA") { id } }',
    ],
    ['a change', change],
    ['several changes', change.replace('{ userUpdate', '{ a: userUpdate').replace(/}$/, ` b: ${change.slice(11)}`)],
    [
      'a long operation',
      `{ app { ${[1, 2, 3, 4].map((n) => `u${n}: users(first: 1000) { nodes { id } }`).join(' ')} } }`,
    ],
    ['what needs no statement', '{ __typename }'],
    ['a document that does not fit', '{ nothing }'],
    ['an argument that cannot be used', '{ app { users(first: -1) { nodes { id } } } }'],
  ])('%s', async (_what, document) => {
    const token = await issueKnown();
    const twin = await issueKnown();
    const before = await ask(graph, twin, document);
    await read(
      graph,
      twin,
      'mutation { userUpdate(externalIdentifier: "u-1", fullName: "Grace Hopper") { user { id } } }',
    );
    await end(token);

    const answers = [await ask(graph, token, document), await ask(graph, token, document)];

    for (const answer of answers) expectRefused(answer, 401, { code: 'UNAUTHENTICATED' });
    expect(before.status).not.toBe(401);
    const { rows } = await tenant.owner.query(
      "select full_name from app_public.users where organization_id = $1 and external_identifier = 'u-1'",
      [tenant.organizationId],
    );
    expect(rows).toEqual([{ full_name: 'Grace Hopper' }]);
  });
});

it('races with its end: an answer is whole, or there is none', async () => {
  await createUnit(tenant, { name: 'Root' });
  const query = '{ app { name rootUnits { nodes { name } } } }';
  for (let round = 0; round < 10; round++) {
    const token = await issueKnown();
    const whole = await ask(graph, token, query);

    const [ended, ...answers] = await Promise.all([
      end(token),
      ...Array.from({ length: 8 }, () => ask(graph, token, query)),
    ]);

    expect(ended.rowCount).toBe(1);
    for (const { status, body } of answers) {
      if (status === 200) expect(body).toEqual(whole.body);
      else
        expect({ status, code: body.errors?.[0]?.extensions.code }).toEqual({ status: 401, code: 'UNAUTHENTICATED' });
    }
    expectRefused(await ask(graph, token, query), 401, { code: 'UNAUTHENTICATED' });
  }
});

it('is what the database says of it now, should that have changed', async () => {
  const token = await issueKnown();
  await tenant.owner.query("update oauth.access_tokens set scopes = '{basic}' where token_hash = $1", [
    hashToken(token),
  ]);

  const { body } = await ask(graph, token, '{ app { name users { nodes { id } } } }');

  expect(body.errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
  expect(await ask(graph, token, '{ __typename }')).toMatchObject({ status: 200 });
});
