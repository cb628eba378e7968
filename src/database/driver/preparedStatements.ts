import { LRUCache } from 'lru-cache';
import type { PoolClient, QueryConfig } from 'pg';
import { driverOf } from './driver.ts';
import { preparesStatements } from './serverClient.ts';
import type { Statement } from './statement.ts';

/** Characters of SQL that a connection may have prepared; their plans take some twenty times that. */
const maxCharacters = 200_000;

const preparedOf = new WeakMap<PoolClient, LRUCache<string, string>>();

/**
 * LRU of a connection's prepared statements: the statement with its name, if it may be prepared.
 * When there are too many, the least recently used ones are closed, but never a pinned one. A statement gets no name if it is too long,
 * or if the connection prepares none.
 */
export function withPreparedName(client: PoolClient, { name, isPinned, ...statement }: Statement): QueryConfig {
  if (!name || !preparesStatements(client) || statement.text.length > maxCharacters / 4)
    return statement as QueryConfig;
  if (!isPinned) (preparedOf.get(client) ?? createPrepared(client)).set(name, statement.text);
  return { name, ...statement } as QueryConfig;
}

function createPrepared(client: PoolClient): LRUCache<string, string> {
  const { connection } = driverOf(client);
  const prepared = new LRUCache<string, string>({
    maxSize: maxCharacters,
    sizeCalculation: (text) => text.length,
    dispose(_text, name, reason) {
      if (reason !== 'evict') return;
      // The answer is not awaited: it comes with the next Sync.
      connection.close({ type: 'S', name });
      delete connection.parsedStatements[name];
    },
  });
  preparedOf.set(client, prepared);
  return prepared;
}
