import { copyFile, glob, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type ConcreteRequest,
  Environment,
  fetchQuery,
  type GraphQLResponse,
  getPaginationMetadata,
  getPaginationVariables,
  getSingularSelector,
  Network,
  type ReaderFragment,
  RecordSource,
  type RequestParameters,
  type SingularReaderSelector,
  Store,
  type Variables,
} from 'relay-runtime';
import { createTenant, createUnit, createViewer, grantAccess, type OwnGraphTest, startGraphTest } from '../support.ts';
import { openWorkshop, schemaFile, type Workshop } from './workshop.ts';

const component = fileURLToPath(new URL('relay/units.js', import.meta.url));

let workshop: Workshop;
beforeAll(async () => {
  workshop = await openWorkshop();
  await copyFile(schemaFile, join(workshop.folder, 'schema.graphql'));
});
afterAll(() => workshop.remove());

/** Compiles a component, as `src/units.js`, to modules in `folder`; `others` are members of the compiler's configuration. */
async function compile(source: string, folder: string, others: object = {}) {
  await workshop.write('src/units.js', source);
  await workshop.write(`${folder}/.keep`, '');
  const config = { src: 'src', schema: 'schema.graphql', language: 'javascript', artifactDirectory: folder, ...others };
  await workshop.write('relay.config.json', JSON.stringify(config));
  return workshop.run('relay-compiler', 'relay.config.json');
}

describe('the Relay compiler', () => {
  it('accepts fragments on User and on Unit that are fetched anew and page by page', async () => {
    const { code, output } = await compile(await readFile(component, 'utf8'), 'accepted');

    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('Compilation completed') });
  });

  it.each([
    ['a field that is not there', 'fullName', 'nickname', 'The type `User` has no field `nickname`.'],
    ['another argument', 'first: $first', 'offset: $first', "Unknown argument 'offset' on field 'Unit.children'."],
    [
      'another cursor',
      'type: "Cursor"',
      'type: "Int"',
      "Variable of type 'Int' cannot be used where 'Cursor' is expected.",
    ],
  ])('refuses %s', async (_what, right, wrong, reason) => {
    const source = await readFile(component, 'utf8');

    const { code, output } = await compile(source.replaceAll(right, wrong), 'refused');

    expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining(reason) });
  });
});

const persistConfig = { file: 'stored/operations.json', algorithm: 'SHA256' };

describe.each([
  ['sends its documents', 'sending', {}],
  ['names its documents, which are the only ones that the service answers,', 'naming', { persistConfig }],
])('a Relay application that %s', (_how, folder, others) => {
  let graph: OwnGraphTest;
  beforeAll(async () => {
    const stored = await workshop.write('stored/operations.json', '{}');
    const { code } = await compile(await readFile(component, 'utf8'), folder, others);
    expect(code).toBe(0);
    await resolveImports();
    graph = await startGraphTest('persistConfig' in others ? { PERSISTED_OPERATIONS: dirname(stored) } : {});
  });
  afterAll(() => graph.stop());

  const artifact = async <Kind>(name: string): Promise<Kind> =>
    (await import(join(workshop.folder, folder, `${name}.graphql.js`))).default;

  /** Completes the names of imported files, as an application's bundler does: Node.js needs them. */
  async function resolveImports(): Promise<void> {
    for await (const file of glob(join(workshop.folder, folder, '*.graphql.js'))) {
      const source = await readFile(file, 'utf8');
      await writeFile(file, source.replaceAll(/(['"]\.\/\w+\.graphql)(['"])/g, '$1.js$2'));
    }
  }

  /** Relay as it runs in a page, for the person of the token; `sent` grows with each request. */
  function createEnvironment(token: string) {
    const sent: { name: string; variables: Variables }[] = [];
    const send = async ({ name, text, id }: RequestParameters, variables: Variables): Promise<GraphQLResponse> => {
      sent.push({ name, variables });
      const response = await fetch(`${graph.url}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        body: JSON.stringify({ ...(text === null ? { documentId: id } : { query: text }), variables }),
      });
      return (await response.json()) as GraphQLResponse;
    };
    const environment = new Environment({ network: Network.create(send), store: new Store(new RecordSource()) });
    return { environment, sent };
  }

  type Page = {
    edges: { node: { name: string } }[];
    pageInfo: { endCursor: string; hasNextPage: boolean };
  };

  /** Presses "more" until there is no more. @returns the names that the page shows then */
  async function showAll(
    environment: Environment,
    fragment: ReaderFragment,
    selector: SingularReaderSelector,
    field: string,
    identifier: Variables = {},
  ): Promise<string[]> {
    const shown = () => (environment.lookup(selector).data as Record<string, Page>)[field] as Page;
    const { paginationRequest, paginationMetadata } = getPaginationMetadata(fragment, fragment.name);
    while (shown().pageInfo.hasNextPage) {
      const { endCursor } = shown().pageInfo;
      const variables = getPaginationVariables('forward', 2, endCursor, identifier, {}, paginationMetadata);
      await fetchQuery(environment, paginationRequest as ConcreteRequest, variables).toPromise();
    }
    return shown().edges.map(({ node }) => node.name);
  }

  it("shows a person's units page by page, and one of them, fetched by its id, with its children", async () => {
    const tenant = await createTenant(graph);
    const ada = await createViewer(tenant);
    const hq = await createUnit(tenant, { name: 'HQ' });
    for (const name of ['A', 'B', 'C', 'D', 'E']) await createUnit(tenant, { name, parent: hq });
    const elsewhere = await createUnit(tenant, { name: 'Elsewhere' });
    await grantAccess(tenant, ada, hq);
    const { environment, sent } = createEnvironment(ada.token);

    const fragment = await artifact<ReaderFragment>('units_viewer');
    const page = await fetchQuery(environment, await artifact<ConcreteRequest>('unitsQuery'), {}).toPromise();
    const { viewer } = page as { viewer: { fullName: string } };
    const ofViewer = selectorOf(fragment, viewer);
    const names = await showAll(environment, fragment, ofViewer, 'accessibleUnits', { id: ada.id });

    expect(viewer.fullName).toBe(ada.fullName);
    expect(names).toEqual(['A', 'B', 'C', 'D', 'E', 'HQ']);
    expect(sent.map(({ name }) => name)).toEqual(['unitsQuery', 'unitsPageQuery', 'unitsPageQuery']);

    const unitFragment = await artifact<ReaderFragment>('units_unit');
    const unitQuery = await artifact<ConcreteRequest>('unitsUnitQuery');
    const { node } = (await fetchQuery(environment, unitQuery, { id: hq.id }).toPromise()) as { node: object };
    const selector = selectorOf(unitFragment, node);

    expect(environment.lookup(selector).data).toMatchObject({ name: 'HQ' });
    expect(await showAll(environment, unitFragment, selector, 'children', { id: hq.id })).toEqual([
      ...['A', 'B', 'C', 'D', 'E'],
    ]);
    expect(await fetchQuery(environment, unitQuery, { id: elsewhere.id }).toPromise()).toEqual({ node: null });
  });
});

function selectorOf(fragment: ReaderFragment, record: object): SingularReaderSelector {
  const selector = getSingularSelector(fragment, record);
  if (!selector) throw new Error(`Relay has nothing for ${fragment.name}`);
  return selector;
}
