import { LRUCache } from 'lru-cache';
import type { PoolClient, QueryConfig } from 'pg';
import { preparesStatements } from '../database/serverClient.ts';
import type { Statement } from './implicitTransaction.ts';

/** The characters of SQL that a connection keeps prepared; PostgreSQL takes some twenty times that for their plans. */
const keptCharacters = 200_000;

/** What the driver's connection has, though its types do not say so. */
type DriverConnection = {
  readonly parsedStatements: Record<string, string>;
  close(message: { type: 'S'; name: string }): void;
};

const keptBy = new WeakMap<PoolClient, LRUCache<string, string>>();

/**
 * The statement as the connection should run it next: under its name, after closing those that were not used for longest if there
 * are too many, none of which is always kept; without one if it is too long to be kept, or the connection keeps none.
 */
export function keepPrepared(client: PoolClient, { name, isKept, ...statement }: Statement): QueryConfig {
  if (!name || !preparesStatements(client) || statement.text.length > keptCharacters / 4)
    return statement as QueryConfig;
  if (!isKept) (keptBy.get(client) ?? createKept(client)).set(name, statement.text);
  return { name, ...statement } as QueryConfig;
}

function createKept(client: PoolClient): LRUCache<string, string> {
  const { connection } = client as PoolClient & { readonly connection: DriverConnection };
  const kept = new LRUCache<string, string>({
    maxSize: keptCharacters,
    sizeCalculation: (text) => text.length,
    dispose(_text, name, reason) {
      if (reason !== 'evict') return;
      // It needs no answer: the next Sync brings it along.
      connection.close({ type: 'S', name });
      delete connection.parsedStatements[name];
    },
  });
  keptBy.set(client, kept);
  return kept;
}
