import type { Random } from '../random.ts';
import type { Check, Who } from './checks.ts';
import type { Operation } from './render.ts';
import type { Service, World } from './world.ts';

export type Received = {
  readonly status: number;
  readonly body: { data?: Record<string, unknown> | null; errors?: unknown[] };
};

/** Sends an operation as a client does. */
export async function ask(
  service: Service,
  { organizations }: World,
  { organization, scope }: Who,
  operation: Operation,
): Promise<Received> {
  const response = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${organizations[organization].tokens[scope]}`,
      'Content-Type': 'application/json',
      Accept: 'application/graphql-response+json',
    },
    body: JSON.stringify(operation),
  });
  return { status: response.status, body: (await response.json()) as Received['body'] };
}

/** Whether it has at most 45 aliases; a service refuses more than 50. */
export const isWithinLimits = ({ query }: Operation): boolean => (query.match(/\b[fr]\d+: /g)?.length ?? 0) <= 45;

/** The data of an answer without errors, or why there is none. */
export function dataOf({ status, body }: Received): { data: Record<string, unknown> } | { refused: string } {
  return status === 200 && body.data && !body.errors
    ? { data: body.data }
    : { refused: `${status} ${JSON.stringify(body.errors ?? body).slice(0, 1000)}` };
}

/** What is wrong: the check that has found it, if one has, and what the client has asked. */
export type Failure = { readonly message: string; readonly check?: Check; readonly operation?: Operation };

/** One case under way. */
export type Run = {
  readonly random: Random;
  queries: number;
  readonly failures: Failure[];
  readonly maxFailures: number;
  readonly isShrinking: boolean;
};

/** Every compiling service, and the other one for a fifth. */
export const servicesFor = ({ services }: World, run: Run): Service[] =>
  services.filter(
    ({ isCompiling }) => isCompiling || services.length === 1 || run.isShrinking || run.random.chance(0.2),
  );
