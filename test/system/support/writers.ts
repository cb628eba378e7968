import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { hashToken } from '../../../src/token/accessTokens.ts';
import type { TenantWithSecret } from './tenant.ts';

export type Writers = {
  /** How many writes have been acknowledged, of whatever kind. */
  readonly acknowledged: number;
  /** Resolves when no request is under way any more. */
  stop(): Promise<void>;
  /** Compares what was acknowledged with what the database has; after `stop`. */
  findings(owner: Pool): Promise<Findings>;
};

/** What was acknowledged, and what is wrong with it. */
export type Findings = {
  readonly users: number;
  readonly deletions: number;
  readonly tokens: number;
  readonly lost: readonly string[];
  readonly halfThere: readonly string[];
};

export type WriterOptions = {
  /** Between an answer and the next request. */
  readonly pauseMs?: number;
  /** The status of each answer; 0 when there was none. */
  readonly onAnswer?: (status: number) => void;
};

/** Write for an organization that nobody else writes for: users, of whom every third is deleted again, and access tokens. */
export function startWriters(
  urlOf: () => string,
  tenant: TenantWithSecret,
  count: number,
  { pauseMs = 0, onAnswer = () => undefined }: WriterOptions = {},
): Writers {
  const acknowledged = { users: [] as string[], deletions: [] as string[], tokens: [] as string[] };
  let writing = true;
  let number = 0;
  const send = async (url: string, request: RequestInit): Promise<unknown> => {
    const { status, body } = await post(url, request);
    onAnswer(status);
    // After a refusal, leaves the machine to whoever is starting.
    const pause = body === null ? Math.max(20, pauseMs) : pauseMs;
    if (pause > 0) await delay(pause);
    return body;
  };

  /** Makes a user with three values in one mutation, deletes every third, and gets a token. */
  const write = async (): Promise<void> => {
    const name = `u-${number++}`;
    const user = `fullName: "${name}", email: "${name}@writers.test", externalIdentifier: "${name}"`;
    if (!(await mutate(send, urlOf(), tenant, `userCreate(${user})`))) return;
    acknowledged.users.push(name);
    const issued = await issue(send, urlOf(), tenant);
    if (issued) acknowledged.tokens.push(issued);
    if (number % 3 === 0) {
      // Whether it is still there cannot be known of one whose answer got lost.
      acknowledged.users.splice(acknowledged.users.indexOf(name), 1);
      const deleted = await mutate(send, urlOf(), tenant, `userDelete(externalIdentifier: "${name}")`);
      if (deleted) acknowledged.deletions.push(name);
    }
  };
  const writer = async () => {
    while (writing) await write();
  };
  const all = Promise.all(Array.from({ length: count }, writer));

  return {
    get acknowledged() {
      return acknowledged.users.length + acknowledged.deletions.length + acknowledged.tokens.length;
    },
    async stop() {
      writing = false;
      await all;
    },
    async findings(owner) {
      const users = await usersOf(owner, tenant);
      const tokens = await tokensOf(owner, tenant);
      const { users: made, deletions, tokens: issued } = acknowledged;
      return {
        users: made.length,
        deletions: deletions.length,
        tokens: issued.length,
        lost: [
          ...made.filter((name) => !users.has(name)),
          ...deletions.filter((name) => users.has(name)).map((name) => `deletion of ${name}`),
          ...issued.filter((token) => !tokens.has(hashToken(token).toString('hex'))).map(() => 'a token'),
        ],
        halfThere: [...users, ...tokens].filter(([, isWhole]) => !isWhole).map(([name]) => name),
      };
    },
  };
}

/** By name, whether all of it is there. */
async function usersOf(owner: Pool, { organizationId }: TenantWithSecret): Promise<Map<string, boolean>> {
  const { rows } = await owner.query<{ name: string; whole: boolean }>(
    `select full_name as name, email = full_name || '@writers.test' and external_identifier = full_name as whole
     from app_public.users where organization_id = $1`,
    [organizationId],
  );
  return new Map(rows.map(({ name, whole }) => [name, whole]));
}

/** By hash, whether its refresh token is there, too. */
async function tokensOf(owner: Pool, { organizationId, app, basic }: TenantWithSecret): Promise<Map<string, boolean>> {
  const { rows } = await owner.query<{ hash: Buffer; whole: boolean }>(
    `select a.token_hash as hash, exists (select from oauth.refresh_tokens r where r.grant_id = a.grant_id) as whole
     from oauth.access_tokens a join oauth.grants g on g.id = a.grant_id where g.organization_id = $1 and a.token_hash <> all ($2)`,
    [organizationId, [app, basic].map(hashToken)],
  );
  return new Map(rows.map(({ hash, whole }) => [hash.toString('hex'), whole]));
}

type Send = (url: string, request: RequestInit) => Promise<unknown>;

/** Whether the service acknowledged it. */
async function mutate(send: Send, url: string, { app }: TenantWithSecret, call: string): Promise<boolean> {
  const query = `mutation { it: ${call} { user { id } } }`;
  const headers = { Authorization: `Bearer ${app}`, 'Content-Type': 'application/json' };
  const answer = await send(`${url}/graphql`, { headers, body: JSON.stringify({ query }) });
  return !!(answer as { data?: { it?: { user?: { id: string } } | null } } | null)?.data?.it?.user?.id;
}

async function issue(send: Send, url: string, { applicationId, secret }: TenantWithSecret): Promise<string | null> {
  const client = { client_id: `client-${applicationId}`, client_secret: secret };
  const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'app', ...client });
  const answer = await send(`${url}/oauth/token`, { body });
  return (answer as { access_token?: string } | null)?.access_token ?? null;
}

/** The JSON of a whole answer; null when there is none, or a refusal. */
async function post(url: string, request: RequestInit): Promise<{ status: number; body: unknown }> {
  try {
    const response = await fetch(url, { method: 'POST', ...request });
    if (response.ok) return { status: response.status, body: await response.json() };
    await response.text();
    return { status: response.status, body: null };
  } catch {
    // Nobody was there, or went away meanwhile.
    return { status: 0, body: null };
  }
}
