--! Previous: sha1:e557f11774b34200fd8d28c48ca918a8c12b2869
--! Hash: sha1:5a95606a746dee24544a277775949288557a2cc8
--! Message: personal data

-- Enter migration here: docs/changing-the-schema.md. The present text of a policy is in test/database/policies.txt,
-- that of a function in the last file of migrations/committed that makes it (psql: \sf app_public.user_create).

-- Which columns say something of a person: @personalData in the comment of a column. The graph ignores it; audit.matrix shows who may do what
-- with them.

create or replace view audit.smart_tags with (security_invoker = true) as
  select tag, kinds
  from (
    values
      -- This service's own, in plugins.
      ('argument', '{constraint,foreign key,index,column}'::text[]),
      ('connection', '{table}'),
      ('filter', '{column}'),
      ('mutation', '{function}'),
      ('oneOf', '{type}'),
      ('param', '{function}'),
      -- For audit.matrix alone.
      ('personalData', '{column}'),
      ('partOf', '{column}'),
      ('payloadField', '{function}'),
      ('value', '{type}'),
      -- PostGraphile's, as far as this graph is made by them: it has no generated mutation and no root field of a table.
      ('arg0modifier', '{function}'),
      ('arg0variant', '{function}'),
      ('backwardBehavior', '{foreign key}'),
      ('backwardDescription', '{foreign key}'),
      ('behavior', '{table,column,constraint,foreign key,function,type}'),
      ('deprecated', '{table,column,foreign key,function}'),
      ('enum', '{table,constraint,type}'),
      ('fieldName', '{foreign key,function}'),
      ('foreignConnectionFieldName', '{foreign key}'),
      ('foreignFieldName', '{foreign key}'),
      ('foreignKey', '{table}'),
      ('foreignSimpleFieldName', '{foreign key}'),
      ('foreignSingleFieldName', '{foreign key}'),
      ('forwardBehavior', '{foreign key}'),
      ('forwardDescription', '{foreign key}'),
      ('hasDefault', '{column}'),
      ('implements', '{table}'),
      ('interface', '{table}'),
      ('isIndexed', '{column,foreign key}'),
      ('listSuffix', '{table,foreign key,function}'),
      ('name', '{table,column,function,type}'),
      ('notNull', '{column,foreign key,function,type}'),
      ('partitionExpose', '{table}'),
      ('primaryKey', '{table}'),
      ('ref', '{table}'),
      ('refVia', '{table}'),
      ('returnType', '{function}'),
      ('type', '{table,column}'),
      ('unionMember', '{table}'),
      ('unique', '{table}')
  ) as tags (tag, kinds);
comment on view audit.smart_tags is 'The smart tags that the graph knows, and on what: a tag that is not here does nothing. A migration that adds one replaces this view.';

create or replace view audit.matrix with (security_invoker = true) as
  with effective as (
    select
      r.relation, r.kind, r.row_security, roles.role_id, roles.role, command,
      has_table_privilege(roles.role, r.relation, command) as whole,
      array(
        select a.attname::text
        from pg_attribute a
        where a.attrelid = r.relation and a.attnum > 0 and not a.attisdropped
          -- Rows are deleted whole: there is no such privilege of a column.
          and has_column_privilege(roles.role, r.relation, a.attnum, nullif(command, 'delete'))
        order by a.attnum
      ) as columns
    from audit.relations r
    cross join audit.roles roles
    cross join unnest(array['select', 'insert', 'update', 'delete']) as command
  )
  select
    e.relation,
    e.kind,
    e.command,
    e.role,
    e.whole or e.columns <> '{}' as granted,
    case when e.whole then '{}' else e.columns end as columns,
    e.row_security,
    p.policies,
    p.rules,
    array(
      select a.attname::text
      from pg_attribute a
      where a.attrelid = e.relation and a.attnum > 0 and not a.attisdropped
        and col_description(a.attrelid, a.attnum) ~ '(^|\n)[ \t]*@personalData(\s|$)'
        and (e.whole or a.attname = any (e.columns))
      order by a.attnum
    ) as personal
  from effective e
  cross join lateral (
    select
      coalesce(array_agg(p.policy::text order by p.policy), '{}') as policies,
      coalesce(array_agg(p.rule order by p.policy), '{}') as rules
    from audit.policies p
    where p.relation = e.relation and p.command in (e.command, 'all')
      and exists (
        select from unnest(p.role_ids) as named
        where named in (0, e.role_id) or e.role_id <> 0 and pg_has_role(e.role_id, named, 'usage'))
  ) as p;
comment on column audit.matrix.personal is 'The columns with personal data, by the tag @personalData, that the role may give the command for; of a delete those of the row.';

-- Absent on purpose: keys, which say nothing by themselves. What a change has said is personal as long as the history keeps it.
do $$
declare
  tagged record;
begin
  for tagged in
    select format('%s.%I', a.attrelid::regclass, a.attname) as name, col_description(a.attrelid, a.attnum) as comment
    from pg_attribute a
    where a.attrelid = 'app_public.users'::regclass and a.attname in ('external_identifier', 'full_name', 'email', 'email_lowercase', 'locale', 'time_zone')
      or a.attrelid = 'audit.changes'::regclass and a.attname in ('before', 'after')
  loop
    if tagged.comment !~ '@personalData' then
      execute format('comment on column %s is %L', tagged.name, e'@personalData\n' || tagged.comment);
    end if;
  end loop;
end
$$;
insert into audit.accepted (kind, object, who, reason)
select 'tag_without_effect', 'audit.changes.' || name, '', 'audit.matrix shows it; the graph is not made of the history.'
from unnest('{before,after}'::text[]) as name
on conflict on constraint accepted_pkey do update set reason = excluded.reason;
