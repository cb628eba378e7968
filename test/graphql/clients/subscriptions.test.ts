import { Client, cacheExchange, fetchExchange } from '@urql/core';
import { createClient } from 'graphql-sse';
import {
  type ConcreteRequest,
  Environment,
  type GraphQLResponse,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
} from 'relay-runtime';
import { shareService } from '../../support/sharedService.ts';
import { until } from '../../support/until.ts';
import { mutating } from '../mutating.ts';
import { createTenant, type GraphTest, type Tenant } from '../support.ts';
import { openWorkshop } from './workshop.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
});

const query = 'subscription ClientChanges { changes { operation typeName } }';
type Told = { changes: { operation: string; typeName: string } };
const created = { changes: { operation: 'CREATE', typeName: 'Unit' } };

const headers = () => ({ Authorization: `Bearer ${tenant.app}` });

/** Creates units until a client that is connecting has received one. */
async function tellUntil(told: readonly unknown[]): Promise<void> {
  const mutate = mutating(graph, tenant);
  let number = 0;
  await until(async () => {
    if (told.length === 0) await mutate('unitCreate', { name: `Unit ${number++}` }, 'unit { id }');
    return told.length > 0;
  });
}

test('graphql-sse follows', async () => {
  const client = createClient({ url: `${graph.url}/graphql`, headers });
  const told: unknown[] = [];
  const unsubscribe = client.subscribe<Told>(
    { query },
    { next: ({ data }) => told.push(data), error: () => undefined, complete: () => undefined },
  );

  await tellUntil(told);
  unsubscribe();

  expect(told[0]).toEqual(created);
});

test('urql follows', async () => {
  const client = new Client({
    url: `${graph.url}/graphql`,
    exchanges: [cacheExchange, fetchExchange],
    fetchSubscriptions: true,
    fetchOptions: () => ({ headers: headers() }),
  });
  const told: unknown[] = [];
  const { unsubscribe } = client.subscription<Told>(query, {}).subscribe(({ data, error }) => told.push(error ?? data));

  await tellUntil(told);
  unsubscribe();

  expect(told[0]).toMatchObject(created);
});

test("relay-runtime's subscription follows, by an artifact of its compiler", async () => {
  const workshop = await openWorkshop();
  await workshop.write('schema.graphql', await (await fetch(`${graph.url}/graphql/schema.graphql`)).text());
  await workshop.write(
    'src/changes.js',
    `import { graphql } from 'relay-runtime';
     graphql\`subscription changesSubscription { changes { operation typeName } }\`;`,
  );
  await workshop.write('made/.keep', '');
  const config = { src: 'src', schema: 'schema.graphql', language: 'javascript', artifactDirectory: 'made' };
  await workshop.write('relay.config.json', JSON.stringify(config));
  const compiled = await workshop.run('relay-compiler', 'relay.config.json');
  expect(compiled).toMatchObject({ code: 0 });
  const { default: artifact } = await import(`${workshop.folder}/made/changesSubscription.graphql.js`);
  const sse = createClient({ url: `${graph.url}/graphql`, headers });
  const environment = new Environment({
    network: Network.create(
      () => Observable.from(Promise.reject(new Error('no query is sent'))),
      ({ text }, variables) =>
        Observable.create<GraphQLResponse>((sink) =>
          sse.subscribe<GraphQLResponse>(
            { query: text ?? '', variables },
            { next: (value) => sink.next(value as GraphQLResponse), error: sink.error, complete: sink.complete },
          ),
        ),
    ),
    store: new Store(new RecordSource()),
  });
  const told: unknown[] = [];
  const { dispose } = requestSubscription(environment, {
    subscription: artifact as ConcreteRequest,
    variables: {},
    onNext: (data) => told.push(data),
    onError: (error) => told.push(error),
  });

  await tellUntil(told);
  dispose();
  await workshop.remove();

  expect(told[0]).toEqual(created);
});
