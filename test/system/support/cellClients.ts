import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { openStream } from '../../graphql/changes/eventStream.ts';
import { testPasswords } from '../../support/passwords.ts';
import { createTenantWithSecret, type TenantWithSecret } from './tenant.ts';
import { type Findings, startWriters } from './writers.ts';

/** An organization with a person who signs in. */
export type CellTenant = TenantWithSecret & { readonly name: string };

/** What the clients of an organization have seen. */
export type Seen = {
  /** How often each kind of client had each answer, such as `read 200`; 0 is a connection that failed, `end` a stream that ended. */
  readonly answers: ReadonlyMap<string, number>;
  /** Of reads that were answered with 200, in milliseconds. */
  readonly latencies: readonly number[];
};

export type CellClients = {
  /** What they have seen since the last call. */
  take(): Seen;
  /** Resolves when no request is under way any more. */
  stop(): Promise<void>;
  /** Compares the acknowledged writes with the database; after `stop`. */
  findings(owner: Pool): Promise<Findings>;
};

/** Sixteen together. */
const counts = { read: 8, write: 4, signIn: 2, stream: 2 };
/** Between an answer and the next request: without it, forty-eight clients would measure their own queue. */
const pauseMs = 250;
const password = 'correct horse battery';

/** An organization of so many people, each with a grant. */
export async function createCellTenant(owner: Pool, people: number): Promise<CellTenant> {
  const tenant = await createTenantWithSecret(owner);
  const { organizationId } = tenant;
  await owner.query(
    `insert into app_public.units (organization_id, name, external_identifier) values ($1, 'Headquarters', 'hq')`,
    [organizationId],
  );
  await owner.query(
    `insert into app_public.users (organization_id, full_name, email, external_identifier)
     select $1, name, name || '@writers.test', name
     from (select 'person-' || number as name from generate_series(1, $2::int) as number) as people`,
    [organizationId, people],
  );
  await owner.query(
    `insert into app_hidden.unit_access (organization_id, user_id, unit_id)
     select u.organization_id, u.id, h.id from app_public.users u join app_public.units h using (organization_id)
     where u.organization_id = $1`,
    [organizationId],
  );
  await owner.query(
    `insert into oauth.credentials (organization_id, user_id, password_hash)
     select organization_id, id, $2 from app_public.users where organization_id = $1 and full_name = 'person-1'`,
    [organizationId, await testPasswords.hash(password)],
  );
  await owner.query('vacuum analyze');
  const { rows } = await owner.query('select name from app_hidden.organizations where id = $1', [organizationId]);
  return { ...tenant, name: rows[0].name };
}

/** Sixteen clients of one organization. They read, write, sign in and follow its changes until they are stopped. */
export function startCellClients(urlOf: () => string, tenant: CellTenant): CellClients {
  const { applicationId, secret, app } = tenant;
  let answers = new Map<string, number>();
  let latencies: number[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  const note = (answer: string) => answers.set(answer, (answers.get(answer) ?? 0) + 1);

  const repeat = async (kind: string, once: () => Promise<number | string>) => {
    while (!signal.aborted) {
      const answer = await once().catch(() => 0);
      // A stream that this stopped has not ended by itself.
      if (kind !== 'stream' || !signal.aborted) note(`${kind} ${answer}`);
      await delay(pauseMs);
    }
  };
  const read = async () => {
    const startedAt = performance.now();
    const body = JSON.stringify({ query: '{ app { users(first: 20) { nodes { id fullName } } } }' });
    const headers = { Authorization: `Bearer ${app}`, 'Content-Type': 'application/json' };
    const response = await fetch(`${urlOf()}/graphql`, { method: 'POST', headers, body });
    await response.text();
    if (response.ok) latencies.push(performance.now() - startedAt);
    return response.status;
  };
  const signIn = async () => {
    const client = { client_id: `client-${applicationId}`, client_secret: secret };
    const person = { username: 'person-1@writers.test', password };
    const body = new URLSearchParams({ grant_type: 'password', scope: 'me', ...client, ...person });
    const response = await fetch(`${urlOf()}/oauth/token`, { method: 'POST', body });
    await response.text();
    return response.status;
  };
  const follow = async () => {
    const stream = await openStream({ url: urlOf() }, app, { signal });
    note(`stream ${stream.status}`);
    for (let event = await stream.next(); event !== null; event = await stream.next())
      if (event.event === 'next') note('event 200');
    return 'end';
  };
  const times = (count: number, run: () => Promise<void>) => Array.from({ length: count }, run);
  const writers = startWriters(urlOf, tenant, counts.write, { pauseMs, onAnswer: (status) => note(`write ${status}`) });
  const all = Promise.all([
    ...times(counts.read, () => repeat('read', read)),
    ...times(counts.signIn, () => repeat('signIn', signIn)),
    ...times(counts.stream, () => repeat('stream', follow)),
  ]);

  return {
    take() {
      const seen = { answers, latencies };
      [answers, latencies] = [new Map(), []];
      return seen;
    },
    async stop() {
      stopping.abort();
      await Promise.all([all, writers.stop()]);
    },
    findings: writers.findings,
  };
}
