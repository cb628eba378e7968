import type { ClientBase } from 'pg';
import type { Found } from '../presets/preset.ts';

/** Reads which settings, keys of claims and functions policies, views and functions use. */
export async function readFound(
  client: Pick<ClientBase, 'query'>,
): Promise<Omit<Found, 'anonymousRoles'> & { texts: string }> {
  const { rows } = await client.query<{ text: string | null }>(textsStatement);
  const texts = rows.map(({ text }) => text ?? '').join('\n');
  const all = (pattern: RegExp) => [...new Set([...texts.matchAll(pattern)].map(([, name = '']) => name))].sort();
  const functions = await client.query<{ name: string }>(functionsStatement);
  return {
    texts,
    settings: all(/current_setting\(\s*'([a-z_]\w*(?:\.\w+)+)'/gi).filter((name) => !clientsOwn.test(name)),
    keys: all(/->>\s*'(\w+)'/g),
    userFunctions: functions.rows.map(({ name }) => name),
  };
}

/** Settings that PostgREST copies from a request. The client chooses their values, so they identify no one. */
const clientsOwn = /^(request\.(headers?|cookies?|method|path)|response)\b/;

const textsStatement = `
  select concat_ws(' ', pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)) as text from pg_policy p
  union all
  select pg_get_viewdef(c.oid) from pg_class c where c.relkind = 'v' and c.oid >= 16384
  union all
  select concat_ws(' ', p.prosrc, pg_get_function_sqlbody(p.oid)) from pg_proc p join pg_language l on l.oid = p.prolang
  where p.oid >= 16384 and l.lanname in ('sql', 'plpgsql')`;

const functionsStatement = `
  select format('%I.%I', n.nspname, p.proname) as name
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_type t on t.oid = p.prorettype
  where p.oid >= 16384 and p.pronargs = 0 and not p.proretset and p.prokind = 'f' and t.typname in ('uuid', 'int4', 'int8', 'text')
    and p.proname ~ '^((current|my|viewer|auth|get|get_my|get_current)_)?(user|person|account|member|viewer)_?id$|^uid$'
  order by p.proname !~ 'current', 1`;
