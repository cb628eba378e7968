import type { Server } from 'node:http';
import { fastify } from 'fastify';
import mercurius, { type IResolvers, type MercuriusLoaders } from 'mercurius';
import { authenticate, settingsOf } from '../authenticate.ts';
import { createPipelinedPool } from '../queryPipelined.ts';
import { batches, type Node } from './batches.ts';
import { OperationTransaction } from './OperationTransaction.ts';
import { type Context, defaultPageSize, rootResolvers, typeDefs } from './rootResolvers.ts';

/** Mercurius on fastify, with compiled queries (`jit`) and its own loaders for everything that hangs on many objects. */
export async function serveMercurius(authUrl: string): Promise<Server> {
  const app = fastify();
  const pool = createPipelinedPool(authUrl, connections);
  await app.register(mercurius, {
    schema: typeDefs,
    resolvers: rootResolvers as unknown as IResolvers,
    loaders: loaders as unknown as MercuriusLoaders,
    jit: 1,
    context: async ({ raw }) => ({
      transaction: new OperationTransaction(pool, settingsOf(await authenticate(pool, raw))),
    }),
  });
  await app.ready();
  app.graphql.addHook('onResolution', async ({ errors }, context) => {
    await (context as unknown as Context).transaction.end(errors !== undefined && errors !== null);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return app.server;
}

/** As many as `pg` takes by itself; an operation keeps one as long as it lasts. */
const connections = 10;

type Query<Params = unknown> = { readonly obj: Node; readonly params: Params };
type Page = { readonly first?: number | null };

/** Without their cache: the keys of one operation differ. */
const opts = { cache: false };
const loaders = {
  User: {
    cardAssignments: {
      opts,
      loader: (queries: readonly Query[], { transaction }: Context) =>
        batches.cardAssignments(
          transaction,
          queries.map(({ obj }) => obj.key),
        ),
    },
  },
  CardAssignment: {
    card: {
      opts,
      loader: (queries: readonly Query[], { transaction }: Context) =>
        batches.cards(
          transaction,
          queries.map(({ obj }) => obj.card_id as string),
        ),
    },
  },
  Unit: {
    children: {
      opts,
      /** All of one operation at one level; the measured one asks for pages of one size. */
      loader: (queries: readonly Query<Page>[], { transaction }: Context) =>
        batches.children(
          transaction,
          queries.map(({ obj }) => obj.key),
          queries[0]?.params.first ?? defaultPageSize,
        ),
    },
  },
};
