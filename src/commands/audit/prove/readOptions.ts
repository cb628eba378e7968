import type { ClientBase } from 'pg';
import type { Acceptance, Assumptions, Claim, Invariant, Options } from 'rls-prover';
import { readRequestRoles } from '../readRequestRoles.ts';
import { examples } from './examples.ts';

/** Reads the question to the prover from the views of `audit`, in a transaction. */
export async function readOptions(client: ClientBase): Promise<Options> {
  // So that objects are named with their schemas, as the prover does.
  await client.query('set local search_path = pg_catalog, pg_temp');
  return {
    ...{ client, claims, examples },
    roles: await readRequestRoles(client),
    invariants: await readInvariants(client),
    accepted: await readAccepted(client),
    assumptions: await readAssumptions(client),
  };
}

/** The rows of `audit.invariants`. */
export async function readInvariants(client: ClientBase): Promise<Required<Invariant>[]> {
  const { rows } = await client.query(
    `select name, relation, commands, columns, expression,
       coalesce(roles, array(select role from audit.request_roles where kind <> 'worker' order by kind, role)) as roles
     from audit.invariants order by name, relation`,
  );
  return rows;
}

/**
 * The rows of `audit.accepted` that are for the prover.
 * That of a definer is for its calls, or for the trigger that it is.
 */
async function readAccepted(client: ClientBase): Promise<Acceptance[]> {
  const { rows } = await client.query<{ kind: string; object: string; who: string; reason: string }>(
    `select kind, object, who, reason from audit.accepted where kind in ('invariant', 'definer')`,
  );
  return rows.flatMap(({ kind, object, who: role, reason }) => {
    if (kind === 'definer')
      return ['call', 'trigger'].map((command) => ({ invariant: kind, relation: object, command, role, reason }));
    const [, invariant, command, relation] = /^(.*?): (\w+) on (.*)$/s.exec(object) ?? [];
    if (!invariant || !command || !relation) return [];
    return invariant === 'definer' && /^(call|trigger)$/.test(command)
      ? []
      : [{ invariant, relation, command, role, reason }];
  });
}

/** Organizations are apart, graphile-migrate's schemas are no client's, and no function sets a claim. */
async function readAssumptions(client: ClientBase): Promise<Assumptions> {
  const { rows } = await client.query<{ relation: string; why: string }>(
    `select object as relation, detail as why from audit.findings where name = 'setting_changed'`,
  );
  return {
    tenant: { invariant: 'organization', column: 'organization_id', relation: 'app_hidden.organizations' },
    ignoredSchemas: '^graphile_',
    broken: rows.map((row) => ({ ...row, invariant: 'claims', command: 'set', role: 'everybody' })),
  };
}

/** The settings that `src/token/settings.ts` makes of a token. */
const claims: readonly Claim[] = [
  ...['organization_id', 'application_id', 'user_id', 'grant_id'].map((name) => ({
    ...{ name, setting: `graph.${name}`, type: 'uuid' },
  })),
  { name: 'scope', setting: 'graph.scope', type: 'text' },
];
