import type { ClientBase } from 'pg';
import { readRequestRoles } from '../readRequestRoles.ts';
import { examples } from './examples.ts';
import type { Claim, Invariant, Options } from './interface.ts';

/** What the prover is asked, as the views of `audit` have it. */
export const readOptions = async (client: ClientBase): Promise<Options> => ({
  client,
  claims,
  examples,
  roles: await readRequestRoles(client),
  invariants: await readInvariants(client),
});

/** The rows of `audit.invariants`. */
export async function readInvariants(client: ClientBase): Promise<Required<Invariant>[]> {
  const { rows } = await client.query(
    `select name, relation, commands, columns, expression,
       coalesce(roles, array(select role from audit.request_roles where kind <> 'worker' order by kind, role)) as roles
     from audit.invariants order by name, relation`,
  );
  return rows;
}

/** The settings that `src/token/settings.ts` makes of a token. */
const claims: readonly Claim[] = [
  ...['organization_id', 'application_id', 'user_id', 'grant_id'].map((name) => ({
    ...{ name, setting: `graph.${name}`, type: 'uuid' },
  })),
  { name: 'scope', setting: 'graph.scope', type: 'text' },
];
