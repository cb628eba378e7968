import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getIntrospectionQuery } from 'graphql';
import { sha256 } from '../../src/graphql/document/persisted.ts';
import { shareService } from '../support/sharedService.ts';
import { createTenant, type GraphTest, type OwnGraphTest, startGraphTest, type Tenant } from './support.ts';

const graphqlType = 'application/graphql-response+json';

type Parameters = Record<string, unknown>;

/** The status and the codes, or the data, of an operation by POST. */
async function post({ url }: GraphTest, token: string | null, parameters: Parameters, accept = graphqlType) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: accept, ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(parameters),
  });
  return outcome(response);
}

async function get({ url }: GraphTest, token: string, parameters: Record<string, string>) {
  const headers = { Accept: graphqlType, Authorization: `Bearer ${token}` };
  return outcome(await fetch(`${url}/graphql?${new URLSearchParams(parameters)}`, { headers }));
}

async function outcome(response: Response) {
  const { data, errors } = (await response.json()) as {
    data?: unknown;
    errors?: { message: string; extensions: { code: string } }[];
  };
  const told = errors?.map(({ extensions, message }) => ({ code: extensions.code, message }));
  return { status: response.status, ...(data !== undefined && { data }), ...(told && { errors: told }) };
}

const refused = (code: string, status = 400) => ({ status, errors: [{ code, message: expect.any(String) }] });
const unknown = { status: 400, errors: [{ code: 'PERSISTED_QUERY_NOT_FOUND', message: 'PersistedQueryNotFound' }] };

/** As Apollo's clients name a document. */
const persisted = (id: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: id } } });

let count = 0;
/** A document that no client has sent yet. */
const newDocument = () => `query Number${++count} { app { name } }`;

describe('automatic persisted queries', () => {
  let graph: GraphTest;
  let tenant: Tenant;
  beforeAll(async () => {
    graph = await shareService();
    tenant = await createTenant(graph);
  });

  const answered = { status: 200, data: { app: { name: 'Acme Backend' } } };

  it('are unknown until the document comes beside its id', async () => {
    const query = newDocument();
    const id = sha256(query);

    expect(await post(graph, tenant.app, persisted(id))).toEqual(unknown);
    expect(await post(graph, tenant.app, { query, ...persisted(id) })).toEqual(answered);
    expect(await post(graph, tenant.app, persisted(id))).toEqual(answered);
  });

  it('take variables and an operation name', async () => {
    const query = 'query A($first: Int) { app { users(first: $first) { nodes { id } } } } query B { __typename }';
    await post(graph, tenant.app, { query, operationName: 'B', ...persisted(sha256(query)) });

    const request = { ...persisted(sha256(query)), operationName: 'A' };

    expect(await post(graph, tenant.app, { ...request, variables: { first: 1 } })).toEqual({
      status: 200,
      data: { app: { users: { nodes: [] } } },
    });
    expect(await post(graph, tenant.app, { ...request, variables: { first: -1 } })).toEqual(refused('BAD_USER_INPUT'));
  });

  it.each<[string, (id: string) => Parameters]>([
    ['documentId', (id) => ({ documentId: id })],
    ['documentId with the prefix', (id) => ({ documentId: `sha256:${id}` })],
    ["Relay's doc_id", (id) => ({ doc_id: id })],
    ['several ways at once', (id) => ({ documentId: `sha256:${id}`, ...persisted(id) })],
    ['an empty document', (id) => ({ query: '', ...persisted(id) })],
  ])('may be named by %s', async (_how, name) => {
    const query = newDocument();

    expect(await post(graph, tenant.app, name(sha256(query)))).toEqual(unknown);
    expect(await post(graph, tenant.app, { ...name(sha256(query)), query })).toEqual(answered);
    expect(await post(graph, tenant.app, name(sha256(query)))).toEqual(answered);
  });

  it('are answered by GET, too', async () => {
    const query = newDocument();
    const extensions = JSON.stringify(persisted(sha256(query)).extensions);

    expect(await get(graph, tenant.app, { extensions })).toEqual(unknown);
    expect(await get(graph, tenant.app, { query, extensions })).toEqual(answered);
    expect(await get(graph, tenant.app, { extensions })).toEqual(answered);
    expect(await get(graph, tenant.app, { documentId: `sha256:${sha256(query)}` })).toEqual(answered);
    expect(await get(graph, tenant.app, { doc_id: sha256(query) })).toEqual(answered);
  });

  it('are 405 by GET when they are mutations, and run by POST', async () => {
    const query = 'mutation { userCreate(fullName: "A", email: "persisted@acme.test") { user { fullName } } }';
    const documentId = sha256(query);

    expect(await get(graph, tenant.app, { documentId, query })).toEqual(refused('BAD_USER_INPUT', 405));
    expect(await post(graph, tenant.app, { documentId })).toEqual(unknown);
    expect((await post(graph, tenant.app, { documentId, query })).status).toBe(200);
    expect(await get(graph, tenant.app, { documentId })).toEqual(refused('BAD_USER_INPUT', 405));
  });

  it('are not remembered when the document is refused', async () => {
    for (const query of ['{ app { nothing } }', '{ app']) {
      const refusal = await post(graph, tenant.app, { query, ...persisted(sha256(query)) });
      expect(refusal).toMatchObject({ status: 400 });
      expect(await post(graph, tenant.app, persisted(sha256(query)))).toEqual(unknown);
    }
  });

  it('are refused with the document of another id, and remember neither', async () => {
    const [one, other] = [newDocument(), newDocument()];

    expect(await post(graph, tenant.app, { query: one, ...persisted(sha256(other)) })).toEqual(
      refused('BAD_USER_INPUT'),
    );
    expect(await post(graph, tenant.app, { query: one, documentId: 'mine' })).toEqual(refused('BAD_USER_INPUT'));
    for (const id of [sha256(one), sha256(other), 'mine'])
      expect(await post(graph, tenant.app, { documentId: id })).toEqual(unknown);
  });

  it.each([
    ['another version', { extensions: { persistedQuery: { version: 2, sha256Hash: 'a' } } }],
    ['no version', { extensions: { persistedQuery: { sha256Hash: 'a' } } }],
    ['no id', { extensions: { persistedQuery: { version: 1 } } }],
    ['a list', { extensions: { persistedQuery: [] } }],
    ['an id that is not a string', { documentId: 1 }],
    ['an empty id', { documentId: '' }],
    ['two ids', { documentId: 'a', doc_id: 'b' }],
    ['an id of every object', { documentId: { toString: 'a' } }],
  ])('are refused with %s, also beside a document', async (_what, parameters) => {
    expect(await post(graph, tenant.app, parameters)).toEqual(refused('BAD_USER_INPUT'));
    expect(await post(graph, tenant.app, { ...parameters, query: '{ __typename }' })).toEqual(
      refused('BAD_USER_INPUT'),
    );
  });

  it('that are null are none', async () => {
    const parameters = { query: newDocument(), documentId: null, doc_id: null, extensions: { persistedQuery: null } };

    expect(await post(graph, tenant.app, parameters)).toEqual(answered);
  });

  it('are a GraphQL answer for clients of application/json', async () => {
    expect(await post(graph, tenant.app, persisted(sha256(newDocument())), 'application/json')).toEqual({
      ...unknown,
      status: 200,
    });
  });

  it('of one organization are nothing to another', async () => {
    const other = await createTenant(graph);
    const query = newDocument();
    await post(graph, tenant.app, { query, documentId: sha256(query) });

    expect(await post(graph, other.app, { documentId: sha256(query) })).toEqual(unknown);
    expect(await post(graph, tenant.app, { documentId: sha256(query) })).toEqual(answered);
  });

  it('need a token, known or not; introspection is answered without one but not remembered', async () => {
    const query = newDocument();
    await post(graph, tenant.app, { query, documentId: sha256(query) });
    const introspection = `query Number${++count} { __schema { queryType { name } } }`;
    const documentId = sha256(introspection);

    expect(await post(graph, null, { documentId: sha256(query) })).toEqual(refused('UNAUTHENTICATED', 401));
    expect(await post(graph, null, { documentId })).toEqual(refused('UNAUTHENTICATED', 401));
    expect((await post(graph, null, { documentId, query: introspection })).status).toBe(200);
    expect(await post(graph, null, { documentId })).toEqual(refused('UNAUTHENTICATED', 401));
  });

  it('are forgotten when many others came: memory does not grow without end', async () => {
    const first = newDocument();
    await post(graph, tenant.app, { query: first, documentId: sha256(first) });
    const padding = '#'.padEnd(95_000);

    for (let sent = 0; sent < 2_000_000; sent += padding.length) {
      const query = `${newDocument()} ${padding}`;
      expect(await post(graph, tenant.app, { query, documentId: sha256(query) })).toEqual(answered);
    }

    expect(await post(graph, tenant.app, { documentId: sha256(first) })).toEqual(unknown);
  });
});

describe('with a folder of stored operations', () => {
  const app = 'query Name { app { name } }\n';
  const schema = '{ __schema { queryType { name } } }';
  const create = 'mutation { userCreate(fullName: "A", email: "stored@acme.test") { user { fullName } } }';

  let folder: string;
  let graph: OwnGraphTest;
  let tenant: Tenant;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'graph-query-operations-'));
    await writeFile(join(folder, `${sha256(app)}.graphql`), app);
    await writeFile(join(folder, 'mutations.json'), JSON.stringify({ create, [`sha256:${sha256(schema)}`]: schema }));
    graph = await startGraphTest({ PERSISTED_OPERATIONS: folder });
    tenant = await createTenant(graph);
  });
  afterAll(async () => {
    await graph.stop();
    await rm(folder, { recursive: true });
  });

  const answered = { status: 200, data: { app: { name: 'Acme Backend' } } };

  it('an operation is named by its id, in any way', async () => {
    const id = sha256(app);

    for (const name of [{ documentId: id }, { documentId: `sha256:${id}` }, { doc_id: id }, persisted(id)])
      expect(await post(graph, tenant.app, name)).toEqual(answered);
    expect(await get(graph, tenant.app, { documentId: id })).toEqual(answered);
    expect(await post(graph, tenant.app, { documentId: 'create' })).toMatchObject({ status: 200 });
    expect(await get(graph, tenant.app, { documentId: 'create' })).toEqual(refused('BAD_USER_INPUT', 405));
  });

  it('an operation may be sent as it is, to the letter', async () => {
    expect(await post(graph, tenant.app, { query: app })).toEqual(answered);
    expect(await post(graph, tenant.app, { query: app, documentId: sha256(app) })).toEqual(answered);
    expect(await post(graph, tenant.app, { query: app.trim() })).toEqual(refused('PERSISTED_QUERY_ONLY'));
  });

  it('any other is refused, however it comes, introspection too', async () => {
    const query = newDocument();
    const id = sha256(query);

    for (const other of [query, '{ __typename }', '{', getIntrospectionQuery()])
      expect(await post(graph, tenant.app, { query: other })).toEqual(refused('PERSISTED_QUERY_ONLY'));
    expect(await get(graph, tenant.app, { query })).toEqual(refused('PERSISTED_QUERY_ONLY'));
    expect(await post(graph, tenant.app, { documentId: id })).toEqual(refused('PERSISTED_QUERY_NOT_FOUND'));
    expect(await post(graph, tenant.app, { query, documentId: id })).toEqual(refused('PERSISTED_QUERY_NOT_FOUND'));
    expect(await post(graph, tenant.app, { documentId: id })).toEqual(refused('PERSISTED_QUERY_NOT_FOUND'));
    expect(await post(graph, tenant.app, { documentId: 'constructor' })).toEqual(refused('PERSISTED_QUERY_NOT_FOUND'));
  });

  it('another document does not come in under a stored id', async () => {
    expect(await post(graph, tenant.app, { query: newDocument(), documentId: sha256(app) })).toEqual(
      refused('BAD_USER_INPUT'),
    );
  });

  it('a token is needed as ever, but for stored introspection', async () => {
    expect(await post(graph, null, { documentId: sha256(app) })).toEqual(refused('UNAUTHENTICATED', 401));
    expect(await post(graph, null, { query: getIntrospectionQuery() })).toEqual(refused('UNAUTHENTICATED', 401));
    expect(await post(graph, null, { documentId: sha256(schema) })).toEqual({
      status: 200,
      data: { __schema: { queryType: { name: 'Query' } } },
    });
  });
});
