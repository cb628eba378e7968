import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientBase, type Pool } from 'pg';
import type { Log } from '../log.ts';
import type { Login } from './authenticator.ts';
import { migrationsAreCurrent } from './migrate.ts';
import type { RenewablePool } from './pools.ts';
import { DatabaseUnavailable } from './unavailable.ts';

export type DatabaseWatch = {
  /** What keeps the database from serving requests, in words for an operator and within 3 s; null when nothing does. */
  readiness(): Promise<string | null>;
  /** Resolves when nothing of it is connected any more. */
  stop(): Promise<void>;
};

export type WatchOptions = {
  readonly pool: RenewablePool;
  readonly login: Login;
  /** How long requests wait for a connection. */
  readonly poolWaitMs: number;
  readonly log: Log;
};

/**
 * Looks at the database when somebody asks, and by itself from the moment when a connection is lost or cannot be had: twice a
 * second, each time by a new connection, until requests are served again. The log tells it once when they are not, and once when
 * they are.
 *
 * If the network swallowed what was sent, connections of that time may be dead without a sign: they are broken off in the end.
 */
export function watchDatabase({ pool, login, poolWaitMs, log }: WatchOptions): DatabaseWatch {
  const looks = new Set<Promise<void>>();
  let told: string | null = null;
  let asked: Promise<string | null> | null = null;
  /** The one under way; `seen` settles with its first look. */
  let outage: { readonly seen: Promise<void>; end(): void } | null = null;
  let stopping = false;

  const tell = ({ reason, error }: Found): string | null => {
    if (reason !== told) {
      const { variable } = login;
      if (reason === null) log.info({ variable }, 'the database is ready');
      else log.warn({ variable, reason, error }, 'the database is not ready');
    }
    told = reason;
    return reason;
  };

  const follow = () => {
    if (outage || stopping) return;
    const breakOffSilent = pool.rememberSilence();
    const { promise: seen, resolve } = Promise.withResolvers<void>();
    let wasSilent = false;
    const lookOnce = async () => {
      const found = await lookAnew(login, poolWaitMs);
      wasSilent ||= found.wasSilent;
      // Perhaps by another look, which began later.
      const isOver = outage !== followed;
      if (wasSilent && (isOver || !found.isAway)) breakOffSilent();
      if (isOver) return;
      tell(found);
      if (found.isAway) resolve();
      else followed.end();
    };
    const look = () => {
      const looking = lookOnce().finally(() => looks.delete(looking));
      looks.add(looking);
    };
    const timer = setInterval(look, lookEveryMs);
    const end = () => {
      clearInterval(timer);
      outage = null;
      resolve();
    };
    const followed = { seen, end };
    outage = followed;
    look();
  };
  pool.onTrouble(follow);

  const ask = async (): Promise<string | null> => {
    if (!outage) {
      const found = await look(pool, login);
      if (!found.isAway) return tell(found);
      // Perhaps every connection was just busy; another one knows.
      follow();
    }
    await outage?.seen;
    return told;
  };

  return {
    readiness() {
      // However many ask at once, one look is enough to know.
      asked ??= Promise.race([ask(), delay(3000, doesNotAnswer, { ref: false })]).finally(() => {
        asked = null;
      });
      return asked;
    },
    async stop() {
      stopping = true;
      outage?.end();
      await Promise.all(looks);
    },
  };
}

const lookEveryMs = 500;

type Found = {
  readonly reason: string | null;
  readonly error?: unknown;
  /** No statement could be run. */
  readonly isAway: boolean;
  /** For as long as a request waits, there was no answer, nor a refusal. */
  readonly wasSilent: boolean;
};

async function lookAnew(login: Login, patienceMs: number): Promise<Found> {
  const since = performance.now();
  const client = new Client({
    connectionString: login.url,
    application_name: 'graph-query-service readiness',
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
  });
  // Whoever waits for it hears of it, too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await foundOn(client, login);
  } catch (error) {
    return { ...isAwayBy(error, login), wasSilent: performance.now() - since >= patienceMs };
  } finally {
    // Should the server no longer answer, nobody waits for its goodbye.
    await Promise.race([client.end().catch(() => undefined), delay(1000, undefined, { ref: false })]);
  }
}

const look = (pool: RenewablePool, login: Login): Promise<Found> =>
  foundOn(pool, login).catch((cause: unknown) => isAwayBy(cause, login));

async function foundOn(database: Pool | ClientBase, { variable, requestRoles }: Login): Promise<Found> {
  const found = (reason: string | null): Found => ({ reason, isAway: false, wasSilent: false });
  if (!(await migrationsAreCurrent(database))) return found('Migrations are behind; run `npm run db:migrate`.');
  const { rows } = await database.query<{ role: string }>(
    `select role from unnest($1::text[]) as role where not pg_has_role(role, 'member')`,
    [requestRoles],
  );
  if (rows.length === 0) return found(null);
  const missing = rows.map(({ role }) => role).join(', ');
  return found(`${variable}'s role may not become ${missing}; set OAUTH_DATABASE_URL, or run \`npm run db:migrate\`.`);
}

const isAwayBy = (cause: unknown, { variable }: Login): Found => ({
  reason: isRefusedLogin(cause) ? refusedLogin(variable) : doesNotAnswer,
  error: new DatabaseUnavailable({ cause }),
  isAway: true,
  wasSilent: false,
});

const doesNotAnswer = 'The database does not answer.';
const refusedLogin = (variable: Login['variable']) =>
  `The database refuses ${variable}'s role; \`npm run db:migrate\` creates it, sets its password and migrates.`;

/** SQLSTATE class 28: the role is unknown, may not log in, or has another password. 42501: it may not connect to this database. */
function isRefusedLogin(error: unknown): boolean {
  return Error.isError(error) && 'code' in error && /^(28...|42501)$/.test(String(error.code));
}
