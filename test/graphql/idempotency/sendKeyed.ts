import { randomUUID } from 'node:crypto';
import type { GraphTest, Tenant } from '../support.ts';

export type Sent = { status: number; headers: Headers; text: string };
export type Options = {
  token?: string;
  query?: string;
  variables?: Record<string, unknown>;
  parameters?: object;
  headers?: Record<string, string>;
  url?: string;
};

export const create = 'mutation ($email: String!) { userCreate(fullName: "Ada", email: $email) { user { id email } } }';

/** Sends a mutation with this key; without one when it is null. */
export async function sendKeyed(
  graph: Pick<GraphTest, 'url'>,
  tenant: Pick<Tenant, 'app'>,
  key: string | null,
  options: Options,
): Promise<Sent> {
  const { token = tenant.app, query = create, variables = {}, headers, url = graph.url } = options;
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/graphql-response+json',
      ...(key !== null && { 'Idempotency-Key': key }),
      ...headers,
    },
    body: JSON.stringify(options.parameters ?? { query, variables }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export const newEmail = () => `${randomUUID()}@acme.test`;
export const bodyOf = ({ text }: Sent) => JSON.parse(text);
export const codesOf = (sent: Sent): string[] | undefined =>
  bodyOf(sent).errors?.map(({ extensions }: { extensions: { code: string } }) => extensions.code);
export const replayedOf = ({ headers }: Sent) => headers.get('Idempotency-Replayed');
export const outcomeOf = (sent: Sent) => [sent.status, codesOf(sent), replayedOf(sent)];

type Database = Pick<GraphTest, 'database'>;

export async function countRows({ database }: Database, sql: string, ...values: unknown[]): Promise<number> {
  return (await database.owner.query(sql, values)).rows.length;
}

export const countUsers = (graph: Database, ...emails: string[]): Promise<number> =>
  countRows(graph, 'select from app_public.users where email = any ($1)', emails);

export function expectReplay(second: Sent, first: Sent): void {
  expect(replayedOf(first)).toBeNull();
  const { status, text } = first;
  expect({ ...second, headers: replayedOf(second) }).toEqual({ status, text, headers: 'true' });
}
