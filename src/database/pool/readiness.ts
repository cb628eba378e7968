import { setTimeout as delay } from 'node:timers/promises';
import type { ClientBase, Pool } from 'pg';
import type { Log } from '../../log.ts';
import { type CommittedMigration, readCommitted } from '../migrations/committedMigrations.ts';
import { findMigrationProblem } from '../migrations/migrate.ts';
import type { Login } from '../roles/authenticator.ts';
import type { EvictablePool } from './pools.ts';
import { DatabaseUnavailable } from './unavailable.ts';
import { withClient } from './withClient.ts';

export type DatabaseWatch = {
  /** Why the database cannot serve requests, in words for an operator and within 3 s; null when it can. */
  readiness(): Promise<string | null>;
  /** Resolves when every connection of the probes is closed. */
  stop(): Promise<void>;
};

export type WatchOptions = {
  readonly pool: EvictablePool;
  readonly login: Login;
  /** How long requests wait for a connection. */
  readonly poolWaitMs: number;
  readonly log: Log;
};

/**
 * Health probes of the database: on demand, and twice a second from a lost connection until recovery.
 * During an outage each probe opens a new connection. The log has each transition once. If the network has dropped packets, connections
 * of that time may be half-open, so they are destroyed on recovery.
 */
export function watchDatabase({ pool, login, poolWaitMs, log }: WatchOptions): DatabaseWatch {
  const probes = new Set<Promise<void>>();
  let lastReported: string | null = null;
  let probing: Promise<string | null> | null = null;
  let state: State = 'reachable';
  // The migrations that this process was started with, since a deployment may add newer files while it runs.
  const target: Target = { ...login, committed: readCommitted() };
  // The first probe reports a failure.
  target.committed.catch(() => undefined);

  const reportTransition = ({ reason, error }: ProbeResult): string | null => {
    if (reason !== lastReported) {
      const { variable } = login;
      if (reason === null) log.info({ variable }, 'the database is ready');
      else log.warn({ variable, reason, error }, 'the database is not ready');
    }
    lastReported = reason;
    return reason;
  };

  const pollUntilRecovered = () => {
    if (state !== 'reachable') return;
    const destroySilent = pool.snapshotBytesRead();
    const { promise: confirmed, resolve } = Promise.withResolvers<void>();
    let timedOut = false;
    const probeOnce = async () => {
      const found = await probeFresh(target, poolWaitMs);
      timedOut ||= found.timedOut;
      // Another probe that began later may have ended the outage.
      const isOver = state !== current;
      if (timedOut && (isOver || found.isReachable)) destroySilent();
      if (isOver) return;
      reportTransition(found);
      if (found.isReachable) current.end();
      else resolve();
    };
    const probe = () => {
      const running = probeOnce().finally(() => probes.delete(running));
      probes.add(running);
    };
    const timer = setInterval(probe, probeEveryMs);
    const end = () => {
      clearInterval(timer);
      state = 'reachable';
      resolve();
    };
    const current: Outage = { confirmed, end };
    state = current;
    probe();
  };
  pool.onTrouble(pollUntilRecovered);

  const probeOnDemand = async (): Promise<string | null> => {
    if (state === 'reachable') {
      const found = await probeOn(pool, target).catch((cause: unknown) => unreachable(cause, target));
      if (found.isReachable) return reportTransition(found);
      // Perhaps every connection was busy; a new one shows it.
      pollUntilRecovered();
    }
    if (typeof state === 'object') await state.confirmed;
    return lastReported;
  };

  return {
    readiness() {
      // Concurrent calls share one probe.
      probing ??= Promise.race([probeOnDemand(), delay(3000, doesNotAnswer, { ref: false })]).finally(() => {
        probing = null;
      });
      return probing;
    },
    async stop() {
      if (typeof state === 'object') state.end();
      state = 'stopping';
      await Promise.all(probes);
    },
  };
}

/** reachable ⇄ outage; each → stopping. */
type State = 'reachable' | Outage | 'stopping';
/** `confirmed` settles with the outage's first probe. */
type Outage = { readonly confirmed: Promise<void>; end(): void };
type Target = Login & { readonly committed: Promise<readonly CommittedMigration[]> };

const probeEveryMs = 500;

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
  return withClient(config, (client) => probeOn(client, target)).catch((error: unknown) => ({
    ...unreachable(error, target),
    timedOut: performance.now() - since >= timeoutMs,
  }));
}

async function probeOn(database: Pool | ClientBase, target: Target): Promise<ProbeResult> {
  const { variable, requestRoles, committed } = target;
  const probed = (reason: string | null): ProbeResult => ({ reason, isReachable: true, timedOut: false });
  const problem = await findMigrationProblem(database, committed);
  if (problem !== null) return probed(problem);
  const { rows } = await database.query<{ role: string }>(
    `select role from unnest($1::text[]) as role where not pg_has_role(role, 'member')`,
    [requestRoles],
  );
  if (rows.length === 0) return probed(null);
  const missing = rows.map(({ role }) => role).join(', ');
  return probed(`${variable}'s role may not become ${missing}; set OAUTH_DATABASE_URL, or run \`npm run db:migrate\`.`);
}

const unreachable = (cause: unknown, { variable }: Login): ProbeResult => ({
  reason: isRefusedLogin(cause) ? refusedLogin(variable) : doesNotAnswer,
  error: new DatabaseUnavailable({ cause }),
  isReachable: false,
  timedOut: false,
});

const doesNotAnswer = 'The database does not answer.';
const refusedLogin = (variable: Login['variable']) =>
  `The database refuses ${variable}'s role; \`npm run db:migrate\` creates it, sets its password and migrates.`;

/** SQLSTATE class 28: unknown role, no login, wrong password. 42501: no right to connect. */
function isRefusedLogin(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(28...|42501)$/.test(String(error.code));
}
