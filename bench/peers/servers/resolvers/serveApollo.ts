import { createServer, type IncomingMessage, type Server } from 'node:http';
import { ApolloServer, type ApolloServerPlugin, HeaderMap } from '@apollo/server';
import { ApolloServerPluginCacheControlDisabled } from '@apollo/server/plugin/disabled';
import DataLoader from 'dataloader';
import { authenticate, settingsOf } from '../authenticate.ts';
import { bodyOf } from '../bodyOf.ts';
import { createPipelinedPool } from '../queryPipelined.ts';
import { batches, type Connection, type Node } from './batches.ts';
import { OperationTransaction } from './OperationTransaction.ts';
import { type Context, defaultPageSize, rootResolvers, typeDefs } from './rootResolvers.ts';

/** Apollo Server 5 on node:http, with a DataLoader for everything that hangs on many objects. */
export async function serveApollo(authUrl: string): Promise<Server> {
  const apollo = new ApolloServer<ApolloContext>({
    typeDefs,
    resolvers: [rootResolvers, loadingResolvers],
    plugins: [ApolloServerPluginCacheControlDisabled(), endingTransactions],
    stopOnTerminationSignals: false,
  });
  await apollo.start();
  const pool = createPipelinedPool(authUrl, connections);

  const answer = async (request: IncomingMessage) => {
    const [claims, body] = await Promise.all([authenticate(pool, request), bodyOf(request)]);
    const transaction = new OperationTransaction(pool, settingsOf(claims));
    return apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: { method: 'POST', headers: headersOf(request), search: '', body: JSON.parse(body) },
      context: async () => ({ transaction, loaders: createLoaders(transaction) }),
    });
  };
  return createServer((request, response) => {
    answer(request).then(
      ({ status, headers, body }) => {
        const text = body.kind === 'complete' ? body.string : '';
        response.writeHead(status ?? 200, {
          ...Object.fromEntries(headers),
          'content-length': Buffer.byteLength(text),
        });
        response.end(text);
      },
      (error: unknown) => {
        console.error(error);
        response.writeHead(500).end();
      },
    );
  });
}

/** As many as `pg` takes by itself; an operation keeps one as long as it lasts. */
const connections = 10;

type ApolloContext = Context & { readonly loaders: Loaders };
type Loaders = ReturnType<typeof createLoaders>;

/** For one request, so that no other request gets the rows that it loads. */
function createLoaders(transaction: OperationTransaction) {
  const children = new Map<number, DataLoader<string, Connection>>();
  return {
    cardAssignments: new DataLoader<string, Node[]>((users) => batches.cardAssignments(transaction, users)),
    cards: new DataLoader<string, Node | null>((keys) => batches.cards(transaction, keys)),
    children(first: number) {
      const known = children.get(first);
      if (known) return known;
      const loader = new DataLoader<string, Connection>((parents) => batches.children(transaction, parents, first));
      children.set(first, loader);
      return loader;
    },
  };
}

const loadingResolvers = {
  User: {
    cardAssignments: ({ key }: Node, _: unknown, { loaders }: ApolloContext) => loaders.cardAssignments.load(key),
  },
  CardAssignment: {
    card: ({ card_id }: Node, _: unknown, { loaders }: ApolloContext) => loaders.cards.load(card_id as string),
  },
  Unit: {
    children: ({ key }: Node, { first }: { readonly first?: number | null }, { loaders }: ApolloContext) =>
      loaders.children(first ?? defaultPageSize).load(key),
  },
};

const endingTransactions: ApolloServerPlugin<ApolloContext> = {
  requestDidStart: async () => ({
    willSendResponse: async ({ contextValue, errors }) => contextValue.transaction.end(errors !== undefined),
  }),
};

function headersOf({ headers }: IncomingMessage): HeaderMap {
  const map = new HeaderMap();
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) map.set(name, String(value));
  return map;
}
