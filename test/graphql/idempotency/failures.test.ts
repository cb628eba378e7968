import { randomUUID } from 'node:crypto';
import { define } from '../../generation/doors.ts';
import { createTenant, type OwnGraphTest, startGraphTest, type Tenant } from '../support.ts';
import {
  bodyOf,
  codesOf,
  countRows,
  countUsers,
  expectReplay,
  newEmail,
  type Options,
  outcomeOf,
  sendKeyed,
} from './sendKeyed.ts';

// Which failures are kept for the key, and which are executed anew.

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    await database.owner.query(functions);
  });
  tenant = await createTenant(graph);
});
afterAll(() => graph.stop());

const send = (key: string | null, options: Options) => sendKeyed(graph, tenant, key, options);

const functions = [
  'create sequence app_hidden.tries; grant usage on sequence app_hidden.tries to graph_app;',
  define(
    'try_to(state text)',
    `returns text language plpgsql volatile as $$
       begin perform nextval('app_hidden.tries'); raise exception using errcode = state; end $$`,
    '@mutation\nFails.',
  ),
  `create table app_hidden.seats (
     organization_id uuid not null,
     number int not null,
     constraint seats_pkey primary key (organization_id, number) deferrable initially deferred);
   grant select, insert on app_hidden.seats to graph_app;`,
  define(
    'sit(number int)',
    `returns int language sql volatile as $$
       insert into app_hidden.seats values (app_hidden.current_organization_id(), number) returning number $$`,
    '@mutation\nTakes a seat.',
  ),
].join('\n');

describe('a mutation that fails', () => {
  const two = (second: string, email: string) =>
    `mutation { first: userCreate(fullName: "Ada", email: "${email}") { user { email } } ${second} }`;

  it.each([
    ['BAD_USER_INPUT', 'second: userCreate(fullName: "", email: "x@acme.test") { user { id } }'],
    ['BAD_USER_INPUT', 'second: userDelete { user { id } }'],
    ['NOT_FOUND', 'second: userDelete(externalIdentifier: "nobody") { user { id } }'],
    ['BAD_USER_INPUT', 'second: tryTo(state: "23514") { result }'],
  ])('for good (%s) is replayed with what its other fields have done: %s', async (code, second) => {
    const [key, email] = [randomUUID(), newEmail()];
    const query = two(`${second} third: userUpdate(externalIdentifier: "x") { user { id } }`, email);

    const first = await send(key, { query });

    expect(bodyOf(first).data).toEqual({ first: { user: { email } }, second: null, third: null });
    expect(outcomeOf(first)).toEqual([200, [code, 'NOT_FOUND'], null]);
    expectReplay(await send(key, { query }), first);
    expect(await countUsers(graph, email)).toBe(1);
  });

  it.each([
    ['INTERNAL', 'P0001', 200, 1],
    ['TIMEOUT', '57014', 200, 1],
    ['UNAVAILABLE', '55P03', 503, 2],
    ['UNAVAILABLE', '40001', 503, 2],
    ['UNAVAILABLE', '53100', 503, 1],
  ])('for now (%s, SQLSTATE %s) has done nothing, and is executed anew', async (code, state, status, tries) => {
    const [key, email] = [randomUUID(), newEmail()];
    const query = two(`second: tryTo(state: "${state}") { result }`, email);
    await graph.database.owner.query('alter sequence app_hidden.tries restart');

    const answers = [await send(key, { query }), await send(key, { query })];

    for (const answer of answers) {
      expect(outcomeOf(answer)).toEqual([status, [code], null]);
      expect(bodyOf(answer).data).toBeNull();
    }
    expect(await countUsers(graph, email)).toBe(0);
    const { rows } = await graph.database.owner.query('select last_value::int as tries from app_hidden.tries');
    expect(rows[0].tries).toBe(2 * tries);
    // Nothing was kept, so that the key is free for another request, too.
    expect(outcomeOf(await send(key, { variables: { email } }))).toEqual([200, undefined, null]);
  });

  it('when it is refused before execution leaves the key free', async () => {
    const [key, email] = [randomUUID(), newEmail()];

    expect((await send(key, { query: 'mutation { nothing }' })).status).toBe(400);
    expect((await send(key, { variables: {} })).status).toBe(400);

    expect(outcomeOf(await send(key, { variables: { email } }))).toEqual([200, undefined, null]);
  });

  it('at a deferred constraint fails its own field', async () => {
    const query =
      'mutation { one: sit(number: 1) { result } again: sit(number: 1) { result } two: sit(number: 2) { result } }';
    const key = randomUUID();

    const first = await send(key, { query });

    expect(bodyOf(first).data).toEqual({ one: { result: 1 }, again: null, two: { result: 2 } });
    expect(codesOf(first)).toEqual(['CONFLICT']);
    expectReplay(await send(key, { query }), first);
    expect(await countRows(graph, 'select from app_hidden.seats')).toBe(2);
    expect(bodyOf(await send(null, { query: query.replaceAll('number: ', 'number: 1') })).data).toEqual({
      one: { result: 11 },
      again: null,
      two: { result: 12 },
    });
  });
});

describe('several fields that write the tree', () => {
  it('never wait for each other, however many are sent at once', async () => {
    const query = `mutation ($name: String!, $identifier: String!) {
      one: unitCreate(name: $name, externalIdentifier: $identifier) { unit { name } }
      two: unitUpdate(externalIdentifier: $identifier, parentId: null, name: "moved") { unit { name } }
      ...Three }
      fragment Three on Mutation { unitDelete(externalIdentifier: $identifier) { unit { name } } }`;
    const send20 = () =>
      Array.from({ length: 20 }, (_, number) =>
        send(randomUUID(), { query, variables: { name: `Unit ${number}`, identifier: randomUUID() } }),
      );

    const answers = await Promise.all([...send20(), ...send20()]);

    expect(new Set(answers.map((answer) => JSON.stringify(outcomeOf(answer))))).toEqual(new Set(['[200,null,null]']));
    const deadlocks = await graph.database.owner.query(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    );
    expect(deadlocks.rows).toEqual([{ deadlocks: 0 }]);
  });
});
