import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientBase, type Pool } from 'pg';
import { hasCode, logFailure } from '../../errors/errors.ts';
import type { Log } from '../../log.ts';
import { findFullDisk } from '../embedded/dataDirectory.ts';
import { type CommittedMigration, readCommitted } from '../migrations/committedMigrations.ts';
import { findMigrationProblem } from '../migrations/migrate.ts';
import type { Login } from '../roles/roles.ts';
import type { EvictablePool } from './pools.ts';
import { withClient } from './transactions.ts';
import { DatabaseUnavailable } from './unavailable.ts';

export type DatabaseWatch = {
  /** Why the database cannot serve requests, in words for an operator and within 3 s; null when it can. */
  readiness(): Promise<string | null>;
  /** Resolves when every connection of the probes is closed. */
  stop(): Promise<void>;
};

type WatchOptions = {
  readonly pool: EvictablePool;
  readonly login: Login;
  /** How long requests wait for a connection. */
  readonly poolWaitMs: number;
  readonly log: Log;
};

/**
 * Health probes of the database: on demand, and one after another from a lost connection until recovery.
 * During an outage each probe uses a new connection and the pool. Either shows recovery: when other clients have taken all connections
 * that were left, the pool still serves. The log has each transition once. If the network has dropped packets, connections of that time
 * may be half-open, so they are destroyed on recovery.
 */
export function watchDatabase({ pool, login, poolWaitMs, log }: WatchOptions): DatabaseWatch {
  const stopping = new AbortController();
  let lastReported: string | null = null;
  // The migrations that this process was started with, since a deployment may add newer files while it runs.
  const target: Target = { ...login, committed: readCommitted() };
  // The first probe reports a failure.
  target.committed.catch(() => undefined);

  const report = (found: ProbeResult): ProbeResult => {
    const { reason, error } = found;
    if (reason !== lastReported && !stopping.signal.aborted) {
      const { variable } = login;
      if (reason === null) log.info({ variable }, 'the database is ready');
      else if (error === undefined) log.warn({ variable, reason }, 'the database is not ready');
      else logFailure(log, 'warn', { variable, reason, error }, 'the database is not ready');
      lastReported = reason;
    }
    return found;
  };

  // A probe of a half-open connection may take as long as a statement.
  const probePool = shareRuns(() => probeOn(pool, target).catch(() => null));
  const probeEither = async (): Promise<ProbeResult> => {
    const fresh = probeFresh(target, poolWaitMs);
    const pooled = Promise.race([probePool.run(), delay(poolWaitMs, null, { ref: false })]);
    const first = await Promise.race([fresh, pooled]);
    return first?.isReachable ? first : ((await pooled) ?? fresh);
  };
  const probe = shareRuns(async () => report(await probeEither()));
  const followOutage = shareRuns(async () => {
    const destroySilent = pool.snapshotBytesRead();
    let timedOut = false;
    while (!stopping.signal.aborted) {
      const found = await probe.run();
      timedOut ||= found.timedOut;
      if (found.isReachable) return timedOut ? destroySilent() : undefined;
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  });
  pool.onTrouble(() => void followOutage.run());

  const findReason = async (): Promise<string | null> => {
    if (!followOutage.running()) {
      const found = await probePool.run();
      if (found) return report(found).reason;
      // Perhaps every connection was busy; a new one shows it.
      void followOutage.run();
    }
    return (await probe.run()).reason;
  };
  const readiness = shareRuns(() => Promise.race([findReason(), delay(3000, doesNotAnswer, { ref: false })]));

  return {
    readiness: readiness.run,
    async stop() {
      stopping.abort();
      await followOutage.running();
      await probe.running();
    },
  };
}

/** Shares one run of `work` among concurrent calls. */
function shareRuns<T>(work: () => Promise<T>) {
  let running: Promise<T> | null = null;
  const run = () => {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  };
  return { run, running: () => running };
}

type Target = Login & { readonly committed: Promise<readonly CommittedMigration[]> };

/** Between two probes of an outage. */
const pauseMs = 500;

type ProbeResult = {
  readonly reason: string | null;
  readonly error?: unknown;
  /** Whether a statement ran. */
  readonly isReachable: boolean;
  /** No answer and no rejection came for as long as a request waits. */
  readonly timedOut: boolean;
};

async function probeFresh(target: Target, timeoutMs: number): Promise<ProbeResult> {
  const since = performance.now();
  const config = {
    connectionString: target.url,
    application_name: 'graph-query-service readiness',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  };
  return withClient(config, (client) => probeOn(client, target)).catch(async (error: unknown) => {
    const timedOut = performance.now() - since >= timeoutMs;
    const found = unreachable(error, target);
    const fullDisk = found.reason === doesNotAnswer ? await findFullDiskOf(target.url) : null;
    return { ...found, reason: fullDisk ?? found.reason, timedOut };
  });
}

/** The disk of an embedded database, whose socket is mostly among its files. */
async function findFullDiskOf(url: string): Promise<string | null> {
  const { host } = new Client(url);
  return existsSync(join(host, 'PG_VERSION')) ? findFullDisk(host) : null;
}

async function probeOn(database: Pool | ClientBase, target: Target): Promise<ProbeResult> {
  const { variable, requestRoles, committed } = target;
  const probed = (reason: string | null): ProbeResult => ({ reason, isReachable: true, timedOut: false });
  const problem = await findMigrationProblem(database, committed);
  if (problem !== null) return probed(problem);
  const { rows } = await database.query<{ missing: string; bypassesRls: boolean; hasRights: boolean }>(
    `select rolsuper or rolbypassrls as "bypassesRls",
       coalesce(has_schema_privilege('graph_app', to_regnamespace('app_public'), 'usage'), false) as "hasRights",
       (select string_agg(role, ', ') from unnest($1::text[]) as role where not pg_has_role(role, 'member')) as missing
     from pg_roles
     where rolname = session_user`,
    [requestRoles],
  );
  const { missing, bypassesRls, hasRights } = rows[0] ?? {};
  if (!hasRights) return probed(lacksRights);
  if (bypassesRls)
    return probed(`${variable}'s role bypasses row-level security; name another, and run \`npm run db:migrate\`.`);
  if (!missing) return probed(null);
  return probed(`${variable}'s role may not become ${missing}; set OAUTH_DATABASE_URL, or run \`npm run db:migrate\`.`);
}

const unreachable = (cause: unknown, { variable }: Login): ProbeResult => ({
  reason: hasCode(cause, '53300') ? noneLeft(variable) : isRefusedLogin(cause) ? refusedLogin(variable) : doesNotAnswer,
  error: new DatabaseUnavailable({ cause }),
  isReachable: false,
  timedOut: false,
});

const lacksRights =
  'The database lacks the rights that its migrations grant, as when a dump was restored without them (--no-acl): restore it with them.';
const doesNotAnswer = 'The database does not answer.';
const noneLeft = (variable: Login['variable']) =>
  `The database has no connection left for ${variable}'s role; lower DATABASE_POOL_SIZE, or raise max_connections or the role's limit.`;
const refusedLogin = (variable: Login['variable']) =>
  `The database refuses ${variable}'s role; \`npm run db:migrate\` creates it, sets its password and migrates.`;

/** SQLSTATE class 28: unknown role, no login, wrong password. 42501: no right to connect. */
function isRefusedLogin(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(28...|42501)$/.test(String(error.code));
}
