import type { ClientBase } from 'pg';

/** A function that runs with its owner's rights and that client roles may call. */
export type Definer = { object: string; callers: string[]; reason: string | null };

/**
 * The security definer functions that a client role may execute, in any schema, and why each is accepted.
 *
 * Sound: what a function that runs with its owner's rights does is bound by no policy of its caller. None counts as proven; only its reason
 * in `audit.accepted`, for exactly these callers, accepts it.
 */
export const readDefiners = async (client: ClientBase, roles: readonly string[]): Promise<Definer[]> =>
  (await client.query(definersStatement, [roles])).rows;

const definersStatement = `
  select f.name as object, called.callers, a.reason
  from audit.functions f
  join pg_proc p on p.oid = f.function
  cross join lateral (
    select array(
      select client from unnest($1::text[]) as client
      where exists (select from pg_roles r where pg_has_role(client, r.oid, 'member') and has_function_privilege(r.oid, p.oid, 'execute'))) as callers
  ) as called
  left join audit.accepted a on a.kind = 'definer' and a.object = f.name and a.who = array_to_string(f.callers, ', ')
  where f.definer and called.callers <> '{}' and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
  order by 1`;
