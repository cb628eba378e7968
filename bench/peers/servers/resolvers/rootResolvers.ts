import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keyOfNodeId } from '../../nodeIds.ts';
import { toNode } from './batches.ts';
import type { OperationTransaction } from './OperationTransaction.ts';
import { statements } from './statements.ts';

/** The service's schema, to the letter. */
export const typeDefs = readFileSync(join(import.meta.dirname, '../../../../test/graphql/schema.graphql'), 'utf8');

export type Context = { readonly transaction: OperationTransaction };

type Page = { readonly first?: number | null };

/** Fields of the few objects that an operation has one of; what hangs on many is up to loaders. */
export const rootResolvers = {
  Query: {
    async viewer(_: unknown, _args: unknown, { transaction }: Context) {
      const [row] = await transaction.query(statements.viewer());
      return row ? toNode(row, 'User') : null;
    },
    async app(_: unknown, _args: unknown, { transaction }: Context) {
      const [row] = await transaction.query(statements.app());
      return row ?? null;
    },
  },
  User: {
    async accessibleUnits(user: { readonly key: string }, { first }: Page, { transaction }: Context) {
      const rows = await transaction.query(statements.accessibleUnits(user.key, first ?? defaultPageSize));
      return { nodes: rows.map((row) => toNode(row, 'Unit')) };
    },
  },
  App: {
    async users(_: unknown, { ids }: { readonly ids: readonly string[] }, { transaction }: Context) {
      const rows = await transaction.query(statements.users(ids.map((id) => keyOfNodeId('User', id))));
      return { nodes: rows.map((row) => toNode(row, 'User')) };
    },
    async rootUnits(_: unknown, { first }: Page, { transaction }: Context) {
      const rows = await transaction.query(statements.rootUnits(first ?? defaultPageSize));
      return { nodes: rows.map((row) => toNode(row, 'Unit')) };
    },
  },
  Mutation: {
    async userCreate(_: unknown, args: Readonly<Record<string, unknown>>, { transaction }: Context) {
      const [row] = await transaction.query(statements.userCreate(args));
      return { user: row ? toNode(row, 'User') : null };
    },
  },
};

export const defaultPageSize = 100;
