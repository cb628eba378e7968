import type { ClientBase } from 'pg';

/** What changes rows, or claims, without that a policy is asked. */
export type Beside = {
  invariant: string;
  object: string;
  command: string;
  who: string;
  problem: string | null;
  reason: string | null;
};

/**
 * What the proofs about policies rest on.
 *
 * A cascade changes rows with the rights of their table's owner: rows of the same organization when that is a part of the foreign key.
 * A trigger that runs with its owner's rights is what its reason in `audit.accepted` says. Triggers that run with the caller's rights do
 * nothing that the caller could not do. Claims are constants of the transaction unless something sets them: the lint `setting_changed`.
 */
export const readBeside = async (client: ClientBase): Promise<Beside[]> => (await client.query(statement)).rows;

const statement = `
  select 'organization' as invariant, format('%s on %s', k.conname, r.name) as object, 'cascade' as command, 'everybody' as who,
    case when not exists (
        select from unnest(k.conkey, k.confkey) as pair (own, other)
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = pair.own
        join pg_attribute b on b.attrelid = k.confrelid and b.attnum = pair.other
        where a.attname = 'organization_id' and (b.attname = 'organization_id' or k.confrelid = 'app_hidden.organizations'::regclass))
      then 'reaches rows of other organizations' end as problem,
    a.reason
  from pg_constraint k
  join audit.relations r on r.relation = k.conrelid
  left join audit.accepted a on a.kind = 'invariant' and a.object = format('organization: cascade on %s', r.name) and a.who = 'everybody'
  where k.contype = 'f' and k.conparentid = 0 and (k.confdeltype in ('c', 'n', 'd') or k.confupdtype in ('c', 'n', 'd'))
  union all
  select 'definer', f.name, 'trigger', 'everybody', 'runs with the rights of its owner', a.reason
  from audit.functions f
  left join audit.accepted a on a.kind = 'definer' and a.object = f.name and a.who = coalesce(nullif(array_to_string(f.callers, ', '), ''), 'nobody')
  where f.definer and f.trigger_tables <> '{}'
  union all
  select 'claims', object, 'set', 'everybody', detail, null
  from audit.findings
  where name = 'setting_changed'
  order by 1, 2`;
