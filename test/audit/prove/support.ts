import type { ClientBase } from 'pg';
import { isOpen, type Judgement, type Options, openProver, prove } from 'rls-prover';
import { readOptions } from '../../../src/commands/audit/prove/readOptions.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

/** Which goals are judged, whether what is not proven is tried, and the question if it was read before. */
type Extent = Pick<Options, 'isAsked'> & { isTried?: boolean; question?: Options };

/** A database, its own unless given, and a prover that answers a question that it has been asked before from memory. */
export async function startProving(given?: TestDatabase) {
  const database = given ?? (await createTestDatabase());
  const prover = await openProver();

  /** Judges the database as a statement leaves it, and undoes that. */
  async function judgeAfter(
    statement = '',
    { isAsked = () => true, isTried = true, question }: Extent = {},
  ): Promise<Judgement[]> {
    return within(async (client) => {
      await client.query(statement);
      const { examples, ...options } = question ?? (await readOptions(client));
      return prove({ ...options, client, ...(isTried && examples && { examples }), isAsked }, prover);
    });
  }

  async function within<Result>(work: (client: ClientBase) => Promise<Result>): Promise<Result> {
    const client = await database.owner.connect();
    try {
      await client.query('begin; set local jit = off');
      return await work(client);
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  const stop = async () => {
    await prover.close();
    if (!given) await database.drop();
  };
  return { database, prover, judgeAfter, within, stop };
}

/** What a statement can change: goals about the relations that it names, and all when it changes a function or a role. */
export const touchedBy = (sql: string): Extent => ({
  isAsked: ({ relation }) =>
    /(alter|replace) function|alter role|grant graph_admin/.test(sql) || sql.includes(relation),
});

/** What is neither proven nor accepted. */
export const openOf = (judgements: readonly Judgement[]) => judgements.filter(isOpen);

export const line = ({ invariant, relation, command, role, verdict, why }: Judgement) =>
  `${invariant}, ${relation}, ${command}, ${role}: ${verdict}: ${why}`;
