import { issueToken } from '../service.ts';
import { clientSecret, people, tokenOf, type World } from './world.ts';

export type Reply = {
  readonly status: number;
  readonly text: string;
  readonly isReplayed: boolean;
  readonly body: Body;
};

export type Body = {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly GraphError[];
};

export type GraphError = {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly argument?: string };
};

export type CallerName = 'app' | 'basic' | 'person 0' | 'person 1';

/** Sends a GraphQL request by HTTP. */
export async function post(url: string, token: string, body: string, key?: string): Promise<Reply> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
    },
    body,
  });
  const text = await response.text();
  const isReplayed = response.headers.get('Idempotency-Replayed') === 'true';
  return { status: response.status, text, isReplayed, body: JSON.parse(text) as Body };
}

/** The access token of each caller of both organizations, in the order of {@link callerNames}. */
export async function signIn(url: string, world: World): Promise<readonly Readonly<Record<CallerName, string>>[]> {
  return Promise.all(
    world.names.map(async (name) => {
      const backend = { client_id: `${name}-backend`, client_secret: clientSecret, grant_type: 'client_credentials' };
      const mobile = { client_id: `${name}-mobile`, client_secret: clientSecret, grant_type: 'password', scope: 'me' };
      const [app, basic, ...persons] = await Promise.all([
        issueToken(url, { ...backend, scope: 'app' }),
        issueToken(url, { ...backend, scope: 'basic' }),
        ...people.map((person) => issueToken(url, { ...mobile, external_authentication_token: tokenOf(person) ?? '' })),
      ]);
      return { app, basic, 'person 0': persons[0] ?? '', 'person 1': persons[1] ?? '' };
    }),
  );
}
