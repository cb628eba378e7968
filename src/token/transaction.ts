import { channel } from 'node:diagnostics_channel';
import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';
import { cancellable, type Precondition, type Statement, withPreparedName } from '../database/driver/driver.ts';
import {
  type CallbackConfig,
  type OpenTransaction,
  queryAfter,
  queryHeldOpen,
} from '../database/driver/pipelinedQueries.ts';
import { evictPoolOf } from '../database/pool/pools.ts';
import { runTransaction } from '../database/pool/transactions.ts';
import { isReadOnly } from '../database/pool/unavailable.ts';
import type { Log } from '../log.ts';
import { noRequest } from '../observability/requestFields.ts';
import { repeat } from '../repeat.ts';
import { oauthSettings, type TransactionSettings, toStatement } from './settings.ts';

/**
 * Runs `work` in one transaction under these settings, all of them local to it.
 * It commits the result, or rolls back when `work` throws. The connection returns as the authenticator without claims, or not at all.
 *
 * @param precondition runs under the settings before `work`, in the same round trip; `work` does not begin if that fails
 */
export const inTransaction = <T>(
  pool: Pool,
  settings: TransactionSettings,
  work: (client: PoolClient) => Promise<T>,
  precondition: Precondition | null = null,
): Promise<T> =>
  runTransaction(
    pool,
    (client) => {
      const opening: Promise<unknown>[] = [client.query('begin'), client.query(toStatement(settings))];
      if (precondition) opening.push(client.query(withPreparedName(client, precondition)));
      return allOf(opening);
    },
    work,
  );

/**
 * Runs one statement in its own transaction under these settings, in one round trip.
 *
 * @param signal cancels the statement when it aborts
 */
export async function queryOnce<Row extends QueryResultRow>(
  pool: Pool,
  settings: TransactionSettings,
  statement: Statement,
  precondition: Precondition | null = null,
  signal: AbortSignal | null = null,
): Promise<QueryResult<Row>> {
  const client = await pool.connect();
  const run = () => queryInImplicitTransaction<Row>(client, settings, statement, precondition);
  try {
    return await (signal ? cancellable(client, signal, run) : run());
  } finally {
    client.release();
  }
}

/** Throws the first failure when all have settled, so that none still runs on a released connection. */
export async function allOf(queries: Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(queries)) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
}

/**
 * Runs one statement under these settings in an implicit transaction: one round trip, pipelined.
 * PostgreSQL ends the settings with it, whatever its outcome. Then the connection may serve another request, unless its server is
 * read-only:
 * another server may be the primary by now.
 *
 * @param precondition runs under the settings before the statement, which does not run if that fails
 */
export function queryInImplicitTransaction<Row extends QueryResultRow>(
  client: PoolClient,
  settings: TransactionSettings,
  statement: Statement,
  precondition: Precondition | null = null,
): Promise<QueryResult<Row>> {
  return new Promise((resolve, reject) => {
    const [first, config] = pipelineOf(client, settings, statement, precondition, (error, result) =>
      error ? reject(error) : resolve(result as QueryResult<Row>),
    );
    queryAfter(client, first, config);
  });
}

/** The rows of a statement whose implicit transaction is open. */
export type Uncommitted = OpenTransaction & { readonly result: QueryResult };

/** Like {@link queryInImplicitTransaction}, but leaves the transaction open until the caller ends it. */
export function queryUncommitted(
  client: PoolClient,
  settings: TransactionSettings,
  statement: Statement,
  precondition: Precondition | null,
): Promise<Uncommitted> {
  return new Promise((resolve, reject) => {
    const [first, config] = pipelineOf(client, settings, statement, precondition, (error, result) =>
      error ? reject(error) : resolve({ ...transaction, result }),
    );
    const transaction = queryHeldOpen(client, first, config);
  });
}

/** The statements to send: the settings, the precondition and the statement. */
function pipelineOf(
  client: PoolClient,
  settings: TransactionSettings,
  statement: Statement,
  precondition: Precondition | null,
  settle: (error: Error | null, result: QueryResult) => void,
): [readonly Precondition[], CallbackConfig] {
  publishStatement(settings, statement.text);
  if (precondition) publishStatement(settings, precondition.text);
  const set = toStatement(settings);
  const callback = (error: Error | null, result: QueryResult) => {
    if (isReadOnly(error)) evictPoolOf(client);
    settle(error, result);
  };
  return [precondition ? [set, precondition] : [set], { ...withPreparedName(client, statement), callback }];
}

/** A statement that a request has run, and its role. */
export type StatementUse = { readonly role: string; readonly text: string };

/** Diagnostics channel: each statement under the settings of a request, as it is sent. */
export const sent = channel('statement:sent');

export function publishStatement({ role, 'graph.request_id': requestId }: TransactionSettings, text: string): void {
  if (requestId !== 'warm-up') publishUsage({ role, text });
}

/** Also for uses of the offload thread. */
export const publishUsage = (use: StatementUse): void => sent.publish(use);

/** Deduplication: collects each text of a token's role once a day, for `audit unused`. */
export function createStatementUsage() {
  const noted: Readonly<Record<string, Set<string>>> = {
    graph_app: new Set(),
    graph_user: new Set(),
    graph_basic: new Set(),
  };
  let day = '';
  let notedCharacters = 0;
  let uses: StatementUse[] = [];
  let characters = 0;

  const note = (message: unknown) => {
    const { role, text } = message as StatementUse;
    const texts = noted[role];
    if (!texts || texts.has(text)) return;
    // The text is noted the next time it runs: a client's many texts must not take more memory than this in between.
    if (characters > maxCharacters) return;
    texts.add(text);
    uses.push({ role, text });
    characters += text.length;
    notedCharacters += text.length;
  };
  sent.subscribe(note);

  return {
    /** The uses since the last call. */
    take(): readonly StatementUse[] {
      const today = new Date().toISOString().slice(0, 10);
      // A forgotten text is noted once more.
      if (today !== day || notedCharacters > maxNotedCharacters) {
        for (const texts of Object.values(noted)) texts.clear();
        notedCharacters = 0;
      }
      day = today;
      const taken = uses;
      uses = [];
      characters = 0;
      return taken;
    },
    /** For uses that could not be recorded: they are noted when they run again. */
    forget(taken: readonly StatementUse[]): void {
      for (const { role, text } of taken) noted[role]?.delete(text);
    },
    stop: () => void sent.unsubscribe(note),
  };
}

const maxCharacters = 200_000;

const maxNotedCharacters = 2_000_000;

/** Write-behind: adds new uses to audit.uses every ten seconds, and at the end. */
export function startRecordingUsage(pool: Pool, log: Log) {
  const uses = createStatementUsage();
  const record = async () => {
    const taken = uses.take();
    if (taken.length === 0) return;
    try {
      const values = [taken.map(({ role }) => role), taken.map(({ text }) => text)];
      await queryOnce(pool, oauthSettings(null, noRequest), { text: 'select oauth.note_uses($1, $2)', values });
    } catch (error) {
      uses.forget(taken);
      log.debug({ error }, 'what was used is not noted yet');
    }
  };
  const recording = repeat(record, everyMs, everyMs);

  return {
    async stop(): Promise<void> {
      await recording.stop();
      uses.stop();
      await record();
    },
  };
}

const everyMs = 10_000;
