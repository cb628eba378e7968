import type { ClientBase } from 'pg';
import type { Acceptance, Assumptions, Claim, Goal, Invariant, Options } from 'rls-prover';
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

/** The roles that the server may become, as the database lists them. */
export async function readRequestRoles(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ role: string }>('select role from audit.request_roles order by kind, role');
  return rows.map(({ role }) => role);
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
 * A function is accepted for its calls, or for the triggers that call it. The database has noted a hash of all that the judgement read.
 */
async function readAccepted(client: ClientBase): Promise<Acceptance[]> {
  const { rows } = await client.query<{
    kind: string;
    object: string;
    who: string;
    reason: string;
    has_changed: boolean;
    is_trigger: boolean;
  }>(
    `select a.kind, a.object, a.who, a.reason,
       a.hash is null or a.hash is distinct from audit.hash_of(a.object, a.who) as has_changed,
       coalesce((select p.prorettype = 'trigger'::regtype from audit.functions f join pg_proc p on p.oid = f.function where f.name = a.object), false) as is_trigger
     from audit.accepted a where a.kind in ('invariant', 'definer')`,
  );
  return rows.flatMap(({ kind, object, who: role, reason, has_changed: hasChanged, is_trigger: isTrigger }) => {
    if (kind === 'definer')
      return [{ invariant: kind, relation: object, command: isTrigger ? 'trigger' : 'call', role, reason, hasChanged }];
    const [, invariant, command, relation] = /^(.*?): (\w+) on (.*)$/s.exec(object) ?? [];
    return invariant && command && relation ? [{ invariant, relation, command, role, reason, hasChanged }] : [];
  });
}

/** graphile-migrate's schemas are no client's, and no function sets a claim. */
async function readAssumptions(client: ClientBase): Promise<Assumptions> {
  const { rows } = await client.query<
    Pick<Goal, 'invariant' | 'relation' | 'command'> & { why: string; remedy: string }
  >(
    `select
       case name when 'setting_changed' then 'claims' else 'rights' end as invariant, object as relation,
       case name when 'setting_changed' then 'set' when 'right_not_accepted' then 'grant' else 'write' end as command, detail as why, remedy
     from audit.findings where name in ('setting_changed', 'forbidden_column_granted', 'right_not_accepted')`,
  );
  return { ignoredSchemas: '^graphile_', broken: rows.map((row) => ({ ...row, role: 'everybody' })) };
}

/** The settings that `src/token/settings.ts` makes of a token. */
const claims: readonly Claim[] = [
  ...['organization_id', 'application_id', 'user_id', 'grant_id'].map((name) => ({
    ...{ name, setting: `graph.${name}`, type: 'uuid' },
  })),
  { name: 'scope', setting: 'graph.scope', type: 'text' },
];
