import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  expectErrors,
  type GraphTest,
  grantAccess,
  type Tenant,
  type TestUnit,
} from './support.ts';

// A run that fails is executed anew: what was found for one field never answers another, whichever was cached.

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
});

const pairs = [
  [1, 1],
  [2, 3],
  [1, 20],
  [20, 20],
  [3, 2],
  [20, 1],
] as const;

describe('two nodes of which a person sees one', () => {
  const createPerson = async () => {
    const person = await createViewer(tenant);
    const open = await createUnit(tenant, { name: 'Open' });
    for (let child = 0; child < 4; child++) await createUnit(tenant, { name: `Open ${child}`, parent: open });
    const closed = await createUnit(tenant, { name: 'Closed' });
    await createUnit(tenant, { name: 'Closed 0', parent: closed });
    await grantAccess(tenant, person, open);
    return { person, open, closed };
  };

  const query = `query ($x: ID!, $y: ID!, $n: Int, $m: Int) {
    a: node(id: $x) { ... on Unit { name children(first: $n) { totalCount nodes { name } } } }
    b: node(id: $y) { ... on Unit { name children(first: $m) { totalCount nodes { name } } } }
    viewer { externalAuthenticationToken }
  }`;
  const answerOf = (count: number) => ({
    name: 'Open',
    children: {
      totalCount: 4,
      nodes: ['Open 0', 'Open 1', 'Open 2', 'Open 3'].slice(0, count).map((name) => ({ name })),
    },
  });
  const forbidden = { path: ['viewer', 'externalAuthenticationToken'], code: 'FORBIDDEN' };

  it('are answered by their own rows, while another field fails', async () => {
    const { person, open, closed } = await createPerson();

    for (const [n, m] of pairs) {
      const first = await ask(graph, person.token, query, { x: open.id, y: closed.id, n, m });
      const viewer = { externalAuthenticationToken: null };
      expectErrors(first, { a: answerOf(n), b: null, viewer }, forbidden);
      const second = await ask(graph, person.token, query, { x: closed.id, y: open.id, n, m });
      expectErrors(second, { a: null, b: answerOf(m), viewer }, forbidden);
    }
  });
});

describe('two mutations of one kind in a document', () => {
  const query = `mutation ($x: ID!, $y: ID!, $n: Int, $m: Int) {
    a: unitUpdate(id: $x, name: "A") { unit { name children(first: $n) { nodes { name } } } }
    b: unitUpdate(id: $y, name: "B") { unit { name children(first: $m) { nodes { name } } } }
  }`;
  const createPair = async (): Promise<[TestUnit, TestUnit]> => {
    const [one, other] = [await createUnit(tenant, { name: 'One' }), await createUnit(tenant, { name: 'Other' })];
    await createUnit(tenant, { name: 'Below one', parent: one });
    await createUnit(tenant, { name: 'Below other', parent: other });
    return [one, other];
  };

  it('are answered by their own rows, while either fails', async () => {
    const [one, other] = await createPair();
    const unknown = (await createUnit(await createTenant(graph))).id;
    const a = { unit: { name: 'A', children: { nodes: [{ name: 'Below one' }] } } };
    const b = { unit: { name: 'B', children: { nodes: [{ name: 'Below other' }] } } };

    for (const [n, m] of pairs) {
      expectErrors(await ask(graph, tenant.app, query, { x: one.id, y: other.id, n, m }), { a, b });
      const first = await ask(graph, tenant.app, query, { x: unknown, y: other.id, n, m });
      expectErrors(first, { a: null, b }, { path: ['a'], code: 'NOT_FOUND' });
      const second = await ask(graph, tenant.app, query, { x: one.id, y: unknown, n, m });
      expectErrors(second, { a, b: null }, { path: ['b'], code: 'NOT_FOUND' });
    }
  });

  it('are done in their order, whatever conditions and fragments say', async () => {
    const user = await createUser(tenant, { fullName: 'Zero' });
    const rename = (alias: string, name: string, condition = '') =>
      `${alias}: userUpdate(id: $id, fullName: "${name}") ${condition} { user { fullName } }`;
    const document = `mutation ($id: ID!, $yes: Boolean!, $no: Boolean!) {
      ${rename('one', 'One')}
      ${rename('skipped', 'Skipped', '@skip(if: $yes)')}
      ...Later @include(if: $yes)
      ... on Mutation @include(if: $no) { ${rename('left', 'Left')} }
      ${rename('two', 'Two')}
      one: userUpdate(id: $id, fullName: "One") { user { email } }
      __typename
    }
    fragment Later on Mutation { ${rename('later', 'Later')} ...Last }
    fragment Last on Mutation { ${rename('one', 'One')} ${rename('last', 'Last', '@skip(if: $no)')} }`;

    for (let time = 0; time < 2; time++) {
      const { body } = await ask(graph, tenant.app, document, { id: user.id, yes: true, no: false });
      expect(body.errors).toBeUndefined();
      const renamed = (fullName: string) => ({ user: { fullName } });
      expect(JSON.stringify(body.data)).toBe(
        JSON.stringify({
          one: { user: { fullName: 'One', email: user.email } },
          later: renamed('Later'),
          last: renamed('Last'),
          two: renamed('Two'),
          __typename: 'Mutation',
        }),
      );
      const { rows } = await graph.database.owner.query('select full_name from app_public.users where id = $1', [
        user.uuid,
      ]);
      expect(rows).toEqual([{ full_name: 'Two' }]);
    }
    const none = await ask(
      graph,
      tenant.app,
      'mutation ($no: Boolean!) { userDelete(id: "x") @include(if: $no) { user { id } } }',
      {
        no: false,
      },
    );
    expect(none.body).toEqual({ data: {} });
  });
});
