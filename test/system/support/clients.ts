import { setTimeout as delay } from 'node:timers/promises';
import type { TenantWithSecret } from './tenant.ts';

/** What clients ask for: a page of users, as many as the offload thread serves, a new user, an access token. */
export const kinds = ['query', 'long query', 'mutation', 'token'] as const;
export type Kind = (typeof kinds)[number];

/** When one was sent and had its answer, and which: `200`, or the status with the code of the error. */
export type Answered = {
  readonly kind: Kind;
  readonly begunAt: number;
  readonly endedAt: number;
  readonly told: string;
};

export type Clients = {
  /** In the order in which they had their answers. */
  readonly answers: readonly Answered[];
  /** When those were sent that have no answer yet. */
  readonly unanswered: ReadonlySet<number>;
  /** Resolves when no request is under way any more. */
  stop(): Promise<void>;
};

/** Two clients of each kind, each of which sends its next request shortly after the last answer. */
export function startClients(urlOf: () => string, tenant: TenantWithSecret): Clients {
  const answers: Answered[] = [];
  const unanswered = new Set<number>();
  let stopping = false;
  const client = async (kind: Kind) => {
    while (!stopping) {
      const begunAt = performance.now();
      unanswered.add(begunAt);
      const told = await send(urlOf(), kind, tenant);
      unanswered.delete(begunAt);
      answers.push({ kind, begunAt, endedAt: performance.now(), told });
      await delay(50);
    }
  };
  const all = Promise.all([...kinds, ...kinds].map(client));
  return {
    answers,
    unanswered,
    async stop() {
      stopping = true;
      await all;
    },
  };
}

let made = 0;

async function send(url: string, kind: Kind, tenant: TenantWithSecret): Promise<string> {
  try {
    // What is not answered by then hangs.
    const response = await request(url, kind, tenant, AbortSignal.timeout(60_000));
    const body = (await response.json()) as Body;
    const code = body.errors?.[0]?.extensions.code ?? body.error;
    const retry = response.status === 503 && !response.headers.has('Retry-After') ? ' without Retry-After' : '';
    return code ? `${response.status} ${code}${retry}` : String(response.status);
  } catch (error) {
    return `nothing: ${error}`;
  }
}

type Body = { errors?: { extensions: { code: string } }[]; error?: string };

const queries = {
  query: () => '{ app { name users(first: 5) { nodes { id fullName } } } }',
  // In two statements, and so in a snapshot.
  'long query': () =>
    `{ app { users { totalCount } } more: app { ${[1, 2].map((n) => `u${n}: users(first: 1000) { nodes { id } }`).join(' ')} } }`,
  mutation: () => `mutation { userCreate(fullName: "Ada", email: "${made++}@clients.test") { user { id } } }`,
};

function request(url: string, kind: Kind, tenant: TenantWithSecret, signal: AbortSignal): Promise<Response> {
  if (kind === 'token') {
    const client = { client_id: `client-${tenant.applicationId}`, client_secret: tenant.secret };
    const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'app', ...client });
    return fetch(`${url}/oauth/token`, { method: 'POST', body, signal });
  }
  const query = queries[kind]();
  const headers = { Authorization: `Bearer ${tenant.app}`, 'Content-Type': 'application/json' };
  return fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }), signal });
}
