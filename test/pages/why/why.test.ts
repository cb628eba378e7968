import { withDatabase } from '../../../src/database/openDatabase.ts';
import { removeTestDataDirectory } from '../../support/dataDirectory.ts';
import { type Demo, getDemoToken, getPersonsToken, startTestDemo } from '../../support/demo.ts';
import { createMigratedDataDirectory } from '../../support/migratedDataDirectory.ts';
import { startProcess } from '../../support/process.ts';
import { sendAs } from './sendAs.ts';

/** Everything that an answer may have. */
type Body = {
  data: { app: { units: { nodes: Row[] }; users: { nodes: Row[] } }; node: { parent: object | null } | null };
  errors?: unknown;
  query: string;
  idKey: string;
  fields: Record<string, string[]>;
  asked: Record<string, string>;
  sentences: string[];
  parts: Part[];
  error?: string;
};
type Row = { id: string; externalIdentifier: string; cardAssignments: { card: { id: string } }[] };
type Part = { policy: string; part: string; holds: boolean };
type Answer = { sentences: string; parts: Part[] };

let demo: Demo;
/** Ids by external identifier, as the application sees them. */
let ids: Record<string, string>;
let tokens: Record<'app' | 'basic' | 'ada' | 'grace' | 'konrad', string>;

beforeAll(async () => {
  demo = await startTestDemo();
  const personal = (name: string) => getPersonsToken(demo, `${name}@demo.test`);
  tokens = {
    ...{ app: await getDemoToken(demo), basic: await getDemoToken(demo, 'basic') },
    ...{ ada: await personal('ada'), grace: await personal('grace'), konrad: await personal('konrad') },
  };
  const { data } = await query(
    tokens.app,
    '{ app { units { nodes { id externalIdentifier } } users { nodes { id externalIdentifier cardAssignments { card { id } } } } } }',
  );
  const rows = [...data.app.units.nodes, ...data.app.users.nodes];
  ids = Object.fromEntries(rows.map(({ id, externalIdentifier }) => [externalIdentifier, id]));
  ids.gateCode =
    data.app.users.nodes.find((user) => user.externalIdentifier === 'konrad')?.cardAssignments[0]?.card.id ?? '';
});

afterAll(async () => {
  await demo.stop();
});

describe('why a row is seen, or not,', () => {
  it('is told of a unit that a policy shows: by its comment, and by where the access comes from', async () => {
    const answer = await why('grace', { id: ids['north-1'] });

    expect(answer.sentences).toMatch(
      /^Grace Hopper \(graph_user\) sees the Unit “First Floor”, since \w+ \(“[^”]+”\) on app_public\.units lets it through\./,
    );
    expect(answer.sentences).toContain('Access comes from: access to unit North Building');
    expect(answer.parts.length).toBeGreaterThan(0);
    expect(answer.parts.every(({ holds }) => holds)).toBe(true);
  });

  it('is told of a unit that is there, and that no policy shows', async () => {
    expect(await sees('app', 'depot')).toBe(true);
    expect(await sees('grace', 'depot')).toBe(false);

    const answer = await why('grace', { id: ids.depot });

    expect(answer.sentences).toMatch(
      /^Grace Hopper \(graph_user\) does not see the Unit “Depot”: no policy on app_public\.units lets it through\.\n\w+ \(“[^”]+”\) does not hold\./,
    );
    expect(answer.parts.some(({ holds }) => !holds)).toBe(true);
  });

  it('agrees with what is answered, for each caller and each unit', async () => {
    for (const who of ['app', 'basic', 'ada', 'grace', 'konrad'] as const)
      for (const unit of ['campus', 'north', 'north-lab', 'south-2', 'depot', 'depot-yard']) {
        const { sentences } = await why(who, { id: ids[unit] });
        expect([who, unit, / sees the Unit /.test(sentences)]).toEqual([who, unit, await sees(who, unit)]);
      }
  });

  it('is told of cards and people, too', async () => {
    expect((await why('konrad', { id: ids.gateCode })).sentences).toMatch(
      /Konrad Zuse \(graph_user\) sees the IdentificationCode “Gate code”.*card assignment/s,
    );
    expect((await why('ada', { id: ids.gateCode })).sentences).toMatch(
      /does not see the IdentificationCode “Gate code”/,
    );
    expect((await why('app', { id: ids.emmy })).sentences).toMatch(
      /^Demo Backend \(graph_app\) sees the User “Emmy Noether”/,
    );
    expect((await why('ada', { id: ids.emmy })).sentences).toMatch(
      /^Ada Lovelace \(graph_user\) does not see the User “Emmy Noether”/,
    );
  });

  it('tells a null that hides a row from one that is in the row', async () => {
    const parentOf = (id: string) => `{ node(id: "${id}") { ... on Unit { parent { name } } } }`;
    expect((await query(tokens.app, parentOf(ids.north ?? ''))).data.node?.parent).toEqual({ name: 'Campus' });
    expect((await query(tokens.grace, parentOf(ids.north ?? ''))).data.node?.parent).toBeNull();

    expect((await why('grace', { id: ids.north, field: 'parent' })).sentences).toMatch(
      /does not see the Unit “Campus”: no policy/,
    );
    expect((await why('app', { id: ids.north, field: 'parent' })).sentences).toMatch(
      /^Demo Backend \(graph_app\) sees the Unit “Campus”/,
    );
    expect((await why('app', { id: ids.campus, field: 'parent' })).sentences).toMatch(
      /^Unit\.parent is null in the row itself: its \w+ in app_public\.units is empty/,
    );
  });

  it('is asked by a document that says the ids, and nothing else anew', async () => {
    const asked = `query ($id: ID!, $other: ID!) {
      first: node(id: $id) { ... on Unit { above: parent { name } } }
      node(id: $other) { ...card }
      app { units(first: 1) { nodes { name } } }
    }
    fragment card on Card { name }`;
    const variables = { id: ids.north, other: ids.gateCode };
    const traced = await post('/graphiql/why/document', { query: asked, variables });

    expect(traced.body.asked).toEqual({ first: ids.north, node: ids.gateCode });
    expect(traced.body.fields.above).toEqual(['parent']);
    const { data, errors } = await query(tokens.app, traced.body.query, variables);
    expect(errors).toBeUndefined();
    const key = traced.body.idKey;
    expect(data).toEqual({
      first: { [key]: ids.north, above: { [key]: ids.campus, name: 'Campus' } },
      node: { [key]: ids.gateCode, name: 'Gate code' },
      app: { units: { nodes: [{ [key]: expect.any(String), name: expect.any(String) }] } },
    });
  });

  it('says whose organization a token is', async () => {
    const answer = await get('/graphiql/why/organization', tokens.ada);

    expect([answer.status, answer.body]).toEqual([200, { organization: 'Demo' }]);
  });
});

describe('a question that cannot be answered', () => {
  it.each([
    ['without a token', undefined, 401],
    ['with a token that is none', 'gqs_at_unknown', 401],
  ])('is refused %s', async (_, token, status) => {
    const answer = await post('/graphiql/why', { id: ids.north }, { token });

    expect(answer.status).toBe(status);
    expect((await get('/graphiql/why/organization', token)).status).toBe(status);
  });

  it.each([
    ['an id of nothing', { id: 'nothing' }, 400, 'none of this service'],
    ['no id', {}, 400, 'cannot be read'],
    ['a number', { id: 1 }, 400, 'cannot be read'],
    [
      'a row that is not there',
      { id: Buffer.from('Unit:00000000-0000-4000-8000-000000000000').toString('base64url') },
      404,
      'deleted',
    ],
    ['a field that is no row', { id: 'north', field: 'toString' }, 200, undefined],
  ])('says so of %s', async (_, question, status, error) => {
    const id = 'id' in question && typeof question.id === 'string' ? (ids[question.id] ?? question.id) : question;
    const answer = await post(
      '/graphiql/why',
      { ...question, ...(typeof id === 'string' && { id }) },
      { token: tokens.app },
    );

    expect(answer.status).toBe(status);
    if (error) expect(answer.body.error).toContain(error);
  });

  it('has the same answer for a row of another organization as for none', async () => {
    const [{ id, parent }] = await withOwner<{ id: string; parent: string }>(`
      with o as (insert into app_hidden.organizations (name) values ('Rival') returning id),
      parent as (insert into app_public.units (organization_id, name) select id, 'Secret Site' from o returning *),
      child as (
        insert into app_public.units (organization_id, parent_id, name)
        select organization_id, id, 'Secret Vault' from parent returning *)
      select child.id, parent.id as parent from child, parent`);
    const nothing = '00000000-0000-4000-8000-000000000000';
    const ask = async (unit: string, field?: string) => {
      const question = { id: Buffer.from(`Unit:${unit}`).toString('base64url'), field };
      const { status, text } = await post('/graphiql/why', question, { token: tokens.app });
      return { status, text };
    };

    for (const field of [undefined, 'parent', 'externalIdentifier', 'name', 'children'])
      for (const unit of [id, parent])
        expect(await ask(unit, field)).toEqual({ status: 404, text: (await ask(nothing, field)).text });
  });

  it.each([
    ['that breaks off', '{'],
    ['with a bracket too many', '{ app { users } } }'],
    ['without anything', ''],
    ['as deep as a megabyte can be', `${'{a'.repeat(300_000)}${'}'.repeat(300_000)}`],
  ])('says so of a document %s', async (_, text) => {
    expect((await post('/graphiql/why/document', { query: text })).status).toBe(400);
  });

  it('is refused in another form than JSON, as another site could send it', async () => {
    const answer = await post('/graphiql/why', { id: ids.north }, { token: tokens.app, 'content-type': 'text/plain' });

    expect(answer.status).toBe(400);
  });
});

describe('a policy that its developer has just made', () => {
  const make = (using: string) =>
    withOwner(
      `create policy new on app_public.units as restrictive for select to graph_user using (${using});
       comment on policy new on app_public.units is 'Nobody sees a laboratory.'`,
    );

  afterEach(() => withOwner('drop policy new on app_public.units'));

  it('is named when it hides what another shows', async () => {
    expect(await sees('grace', 'north-lab')).toBe(true);
    await make("name <> 'Laboratory'");
    expect(await sees('grace', 'north-lab')).toBe(false);

    expect((await why('grace', { id: ids['north-lab'] })).sentences).toBe(
      'Grace Hopper (graph_user) does not see the Unit “Laboratory”: new (“Nobody sees a laboratory”) on app_public.units hides it, and every row must pass that policy.',
    );
    expect((await why('grace', { id: ids['north-1'] })).sentences).toMatch(
      / sees the Unit “First Floor”, since select_/,
    );
  });

  it('shows its error, without a stack', async () => {
    await make('1 / (length(name) - length(name)) = 1');
    const { status, body } = await post('/graphiql/why', { id: ids['north-1'] }, { token: tokens.grace });

    expect([status, body]).toEqual([400, { error: 'PostgreSQL: division by zero (SQLSTATE 22012)' }]);
  });
});

describe('which policy shows a row', () => {
  it.each([
    ["a web site's name that resolves to this machine", { host: 'attacker.test' }],
    ['a proxy', { 'x-forwarded-for': '203.0.113.7' }],
    ['a proxy of the newer kind', { forwarded: 'for=203.0.113.7' }],
  ])('is not told to %s', async (_, headers) => {
    for (const path of ['/graphiql/why', '/graphiql/why/document'])
      expect(
        (await post(path, { id: ids.north, query: '{ __typename }' }, { token: tokens.app, ...headers })).status,
      ).toBe(404);
    expect((await get('/graphiql/why/organization', tokens.app, headers)).status).toBe(404);
    expect((await get('/graphiql', undefined, headers)).text).toContain('"whyPath":null');
  });

  it('is told to this machine, whose page offers it', async () => {
    expect((await post('/graphiql/why', { id: ids.north }, { token: tokens.app })).status).toBe(200);
    expect((await get('/graphiql')).text).toContain('"whyPath":"/graphiql/why"');
  });

  // Outside of production `npm start` tells it: test/process/embedded.test.ts.
  it('is not told in production', async () => {
    const dataDir = await createMigratedDataDirectory();
    const environment = { PATH: process.env.PATH ?? '', PORT: '0', DATA_DIR: dataDir };
    const started = startProcess([], { ...environment, NODE_ENV: 'production', WORKERS: '1' });
    await started.says('curl -s');
    const [, url = ''] = /Graph Query Service: (\S+)/.exec(started.output.stdout) ?? [];
    const [, token] = /Bearer (\S+?)'/.exec(started.output.stdout) ?? [];

    expect((await get('/graphql?query={app{name}}', token, {}, url)).body).toEqual({
      data: { app: { name: 'Demo Backend' } },
    });
    expect((await get('/graphiql/why/organization', token, {}, url)).status).toBe(404);
    expect((await get('/graphiql', undefined, {}, url)).text).toContain('"whyPath":null');
    started.signal('SIGTERM');
    await started.exited;
    await removeTestDataDirectory(dataDir);
  });
});

const withOwner = <Row>(text: string) =>
  withDatabase(
    { database: { kind: 'embedded', dataDir: demo.dataDir }, logLevel: 'fatal' },
    async (owner) => (await owner.query(text)).rows as [Row],
  );

async function why(who: keyof typeof tokens, question: object): Promise<Answer> {
  const { status, body } = await post('/graphiql/why', question, { token: tokens[who] });
  expect(status).toBe(200);
  return { parts: body.parts, sentences: body.sentences.join('\n') };
}

/** Whether the API answers a caller with the unit. */
async function sees(who: keyof typeof tokens, unit: string): Promise<boolean> {
  const { data } = await query(tokens[who], 'query ($id: ID!) { node(id: $id) { id } }', { id: ids[unit] });
  return (data?.node ?? null) !== null;
}

async function query(token: string, text: string, variables: object = {}) {
  const { body } = await post('/graphql', { query: text, variables }, { token });
  return body;
}

type Headers = { token?: string | undefined } & Record<string, string | undefined>;

const post = (path: string, body: object, { token, ...headers }: Headers = {}, url = demo.url) =>
  sendAs<Body>(
    'POST',
    url + path,
    { 'content-type': 'application/json', ...bearer(token), ...headers },
    JSON.stringify(body),
  );

const get = (path: string, token?: string, headers: Record<string, string> = {}, url = demo.url) =>
  sendAs<Body>('GET', url + path, { ...bearer(token), ...headers });

const bearer = (token: string | undefined) => (token === undefined ? {} : { authorization: `Bearer ${token}` });
