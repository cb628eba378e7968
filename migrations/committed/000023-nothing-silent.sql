--! Previous: sha1:26904bb5c8c4ed2c55282ef2da79c4840e35a2ed
--! Hash: sha1:f7010eee473219ea57301e9074319bb800b55104
--! Message: nothing silent

-- Nothing silent: what the graph ignores of a migration, what a policy leaves open between organizations, and which roles may
-- become a role of requests are findings, like the lints. `npm run dev` and `npm run db:commit` read them, too. One that is meant to be so is accepted with a
-- reason: insert its name, its object and '' into audit.accepted.

create or replace view audit.smart_tags with (security_invoker = true) as
  select tag, kinds
  from (
    values
      -- This service's own, in plugins.
      ('argument', '{constraint,foreign key,index,column}'::text[]),
      ('filter', '{column}'),
      ('mutation', '{function}'),
      ('oneOf', '{type}'),
      ('param', '{function}'),
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

create or replace view audit.comment_lines with (security_invoker = true) as
  with schemas as (
    select oid, nspname from pg_namespace where nspname in ('app_public', 'app_hidden', 'oauth', 'audit')
  ),
  comments (kind, object, relation_id, object_id, is_public, comment) as (
    select 'table', c.oid::regclass::text, c.oid, c.oid, s.nspname = 'app_public', obj_description(c.oid, 'pg_class')
    from pg_class c join schemas s on s.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f')
    union all
    select 'column', format('%s.%I', c.oid::regclass, a.attname), c.oid, c.oid, s.nspname = 'app_public', col_description(c.oid, a.attnum)
    from pg_class c join schemas s on s.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relkind in ('r', 'p', 'v', 'm', 'f', 'c')
    union all
    select case k.contype when 'f' then 'foreign key' else 'constraint' end, format('%I on %s', k.conname, k.conrelid::regclass),
      k.conrelid, k.oid, s.nspname = 'app_public', obj_description(k.oid, 'pg_constraint')
    from pg_constraint k join schemas s on s.oid = k.connamespace
    where k.conrelid <> 0
    union all
    select 'index', i.indexrelid::regclass::text, i.indrelid, i.indexrelid, s.nspname = 'app_public', obj_description(i.indexrelid, 'pg_class')
    from pg_index i join pg_class c on c.oid = i.indexrelid join schemas s on s.oid = c.relnamespace
    union all
    select 'function', p.oid::regprocedure::text, null, p.oid, s.nspname = 'app_public', obj_description(p.oid, 'pg_proc')
    from pg_proc p join schemas s on s.oid = p.pronamespace
    union all
    -- A type of any schema is in the graph when a table of app_public has a column of it.
    select 'type', t.oid::regtype::text, null, t.oid, true, obj_description(t.oid, 'pg_type')
    from pg_type t join schemas s on s.oid = t.typnamespace
    where t.typtype in ('e', 'd', 'c', 'r')
  ),
  -- As pg-introspection reads a comment: lines that are tags, then the description.
  lines as (
    select
      c.kind, c.object, c.relation_id, c.object_id, c.is_public, l.line, l.number,
      regexp_match(l.line, '^[ \t]*@([a-zA-Z][a-zA-Z0-9_]*)(?:\s(.*))?$') as parts,
      min(l.number) filter (where l.line !~ '^[ \t]*@[a-zA-Z][a-zA-Z0-9_]*(\s|$)' and not (l.number = 1 and l.line = ''))
        over (partition by c.kind, c.object) as first_text
    from comments c
    cross join lateral unnest(string_to_array(replace(c.comment, E'\r\n', E'\n'), E'\n')) with ordinality as l (line, number)
    where c.comment ~ '@'
  )
  select
    kind, object, relation_id, object_id, is_public,
    coalesce(parts[1], (regexp_match(line, '@([a-zA-Z][a-zA-Z0-9_]*)'))[1]) as tag,
    coalesce(parts[2], '') as value,
    parts is not null and (first_text is null or number < first_text) as is_tag
  from lines
  where line ~ '^[ \t]*@[a-zA-Z]'
  union all
  -- Those of a constraint that is only said to be: @foreignKey … |@fieldName … |…
  select
    case parts[1] when 'foreignKey' then 'foreign key' else 'constraint' end, object, relation_id, object_id, is_public,
    coalesce(part[1], more), coalesce(part[2], ''), part is not null
  from lines
  cross join lateral unnest(string_to_array(parts[2], '|')) with ordinality as m (more, position)
  cross join lateral regexp_match(more, '^[ \t]*@([a-zA-Z][a-zA-Z0-9_]*)(?:\s(.*))?$') as part
  where parts[1] in ('foreignKey', 'primaryKey', 'unique') and (first_text is null or number < first_text) and position > 1;
comment on view audit.comment_lines is 'The lines of comments that look like smart tags; those that stand below a description are text.';

create or replace view audit.graph_lints with (security_invoker = true) as
  with schema as (
    select 'app_public'::regnamespace as oid
  ),
  -- Once for all of them.
  lines as materialized (
    select * from audit.comment_lines
  ),
  tables as (
    select c.oid, c.oid::regclass::text as name, obj_description(c.oid, 'pg_class') as comment
    from pg_class c
    where c.relnamespace = (select oid from schema) and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
  ),
  functions as (
    select
      p.oid, p.oid::regprocedure::text as object, p.provolatile, p.prokind, p.provariadic, p.prorettype,
      array(select unnest(coalesce(p.proargmodes, '{}')) intersect select unnest('{o,b,t}'::"char"[])) <> '{}' as has_outputs,
      exists (select from lines l where l.object_id = p.oid and l.kind = 'function' and l.is_tag and l.tag = 'mutation') as is_mutation,
      exists (select from lines l where l.object_id = p.oid and l.kind = 'function' and l.is_tag and l.tag = 'behavior') as is_told,
      exists (select from pg_proc other where other.pronamespace = p.pronamespace and other.proname = p.proname and other.oid <> p.oid) as is_overloaded,
      exists (
        select from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) as argument
        join pg_type t on t.oid = argument where t.typtype = 'p') as has_pseudo_type,
      exists (select from pg_type t join tables on tables.oid = t.typrelid where t.oid = p.proargtypes[0]) as is_of_a_row,
      p.proname
    from pg_proc p
    where p.pronamespace = (select oid from schema) and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
      -- Neither an extension's, nor the constructor of a range type.
      and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype in ('e', 'i'))
  ),
  -- A tag that is known, where it stands.
  tags as (
    select l.*, s.kinds
    from lines l
    join audit.smart_tags s on s.tag = regexp_replace(l.tag, '^arg\d+(modifier|variant)$', 'arg0\1')
    where l.is_tag
  ),
  foreign_keys as (
    select
      t.object, t.relation_id, t.value, spec,
      (select array_agg(case when name ^@ '"' then trim(name, '"') else lower(name) end) from regexp_split_to_table(trim(spec[1]), '\s*,\s*') as name) as columns,
      (select array_agg(case when name ^@ '"' then trim(name, '"') else lower(name) end) from regexp_split_to_table(trim(spec[4]), '\s*,\s*') as name) as their_columns,
      -- Not to_regclass, for which an auditor has no right to the schema.
      (select c.oid
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relname = case when coalesce(spec[3], spec[2]) ^@ '"' then trim(coalesce(spec[3], spec[2]), '"') else lower(coalesce(spec[3], spec[2])) end
         and n.nspname = case when spec[3] is null then 'app_public' when spec[2] ^@ '"' then trim(spec[2], '"') else lower(spec[2]) end) as their_id
    from tags t
    cross join lateral regexp_match(
      split_part(t.value, '|', 1), '^\(([^()]+)\) references ("[^"]+"|\w+)(?:\.("[^"]+"|\w+))?(?:\s*\(([^()]+)\))?\s*$', 'i') as spec
    where t.tag = 'foreignKey' and t.kind = 'table' and spec is not null
  ),
  lints (name, level, object, detail, remedy) as (
    -- Smart tags.

    select
      'unknown_tag', 'error', l.object, format('says @%s, which is no smart tag of this graph', l.tag),
      coalesce(
        (select format('Did you mean @%s?', s.tag)
         from audit.smart_tags s
         cross join lateral (select max(n) as length from generate_series(3, length(s.tag)) n where left(s.tag, n) = left(l.tag, n)) as common
         where common.length is not null
         order by common.length desc, length(s.tag)
         limit 1),
        'Take it away: it does nothing. audit.smart_tags has those that do.')
    from lines l
    where l.is_tag and not exists (select from audit.smart_tags s where s.tag = regexp_replace(l.tag, '^arg\d+(modifier|variant)$', 'arg0\1'))
    union all
    select
      'tag_without_effect', 'error', l.object, format('says @%s as text, in or below its description', l.tag),
      'Tags come first, each on a line of its own and with a blank before its value; between those of a @foreignKey stands |.'
    from lines l
    where not l.is_tag and l.tag in (select tag from audit.smart_tags)
    union all
    select
      'tag_without_effect', 'error', t.object, format('says @%s, which does nothing on a %s', t.tag, t.kind),
      format('It belongs to a %s.', array_to_string(t.kinds, ', or a '))
    from tags t
    where t.kind <> all (t.kinds)
    union all
    select
      'tag_without_effect', 'error', t.object, format('says @%s outside of app_public, which the graph is made of', t.tag),
      'Put it into app_public, or take the tag away.'
    from tags t
    where not t.is_public and t.kind = any (t.kinds) and t.tag <> 'argument'
    union all
    select
      'tag_without_effect', 'error', t.object, format('says @param %s, which names none of its parameters', t.value),
      format('@param [{Type}] <argument> <description>; its arguments are %s.', coalesce(nullif(array_to_string(p.proargnames, ', '), ''), 'none'))
    from tags t
    join pg_proc p on p.oid = t.object_id
    cross join lateral regexp_match(t.value, '^(?:\{[^{}]*\}\s+)?(\w+)') as named
    -- A parameter without a name is called by its position.
    where t.tag = 'param' and t.kind = 'function' and named[1] ~ '^arg[0-9]+$' is not true and not exists (
      select from unnest(p.proargnames) as argument where replace(lower(argument), '_', '') = replace(lower(named[1]), '_', ''))
    union all
    select
      'tag_without_effect', 'error', f.object, format('says @filter %s, %s', f.value, f.reason), '@filter <argument>, on a column whose rows are to be found by it.'
    from (
      select
        t.object, t.value,
        case
          when t.value !~ '\w' then 'which names no argument'
          when t.value !~ '^\s*[_A-Za-z]\w*' then 'which is no name in GraphQL'
          when t.object ~ '\.organization_id$' then 'though the graph does not show that column'
          when split_part(trim(t.value), ' ', 1) in ('first', 'last', 'offset', 'before', 'after', 'orderBy', 'condition', 'ids', 'externalIdentifiers')
            then 'an argument that connections have already'
          when count(*) over (partition by t.relation_id, split_part(trim(t.value), ' ', 1)) > 1 then 'as another column of the table does'
        end as reason
      from tags t
      where t.tag = 'filter' and t.kind = 'column' and t.is_public
    ) as f
    where f.reason is not null
    union all
    select
      'tag_without_effect', 'error', t.object, 'says @foreignKey, and not what it refers to',
      '@foreignKey (<columns>) references app_public.<table> (<columns>)'
    from tags t
    where t.tag = 'foreignKey' and t.kind = 'table' and not exists (select from foreign_keys k where k.object = t.object and k.value = t.value)
    union all
    select 'tag_without_effect', 'error', f.object, format('says @foreignKey %s, %s', split_part(f.value, '|', 1), f.reason),
      '@foreignKey (<columns>) references app_public.<table> (<columns>)'
    from (
      select
        k.object, k.value,
        case
          when k.their_id is null then 'and there is no such table'
          when k.their_id not in (select oid from tables) then 'which is not in app_public'
          when exists (
            select from unnest(k.columns) as named
            where not exists (select from pg_attribute a where a.attrelid = k.relation_id and a.attname = named and a.attnum > 0 and not a.attisdropped)
            union all
            select from unnest(k.their_columns) as named
            where not exists (select from pg_attribute a where a.attrelid = k.their_id and a.attname = named and a.attnum > 0 and not a.attisdropped))
            then 'and there is no such column'
          when k.their_columns is not null and cardinality(k.columns) <> cardinality(k.their_columns) then 'with more columns on one side'
          when k.their_columns is not null
            and not exists (
              select from pg_constraint u
              where u.conrelid = k.their_id and u.contype in ('p', 'u')
                and k.their_columns @> array(select a.attname::text from pg_attribute a where a.attrelid = u.conrelid and a.attnum = any (u.conkey))
                and cardinality(u.conkey) = cardinality(k.their_columns))
            and not exists (
              select from tags u
              cross join lateral regexp_split_to_array(trim(split_part(u.value, '|', 1)), ',') as named
              where u.relation_id = k.their_id and u.kind = 'table' and u.tag in ('primaryKey', 'unique')
                and named @> k.their_columns and named <@ k.their_columns)
            then 'whose columns are no key there'
        end as reason
      from foreign_keys k
    ) as f
    where f.reason is not null
    union all

    -- What is not in the graph, though it looks as if it were.

    select 'function_not_in_graph', case when f.is_mutation then 'error' else 'warning' end, f.object, f.reason, f.remedy
    from (
      select
        functions.*,
        case
          when prokind <> 'f' then 'is no function, and so not in the graph'
          when is_overloaded then 'shares its name with another function: the graph has neither'
          when provariadic <> 0 then 'is VARIADIC, which the graph leaves out'
          when has_pseudo_type or prorettype = 'record'::regtype and not has_outputs then 'has no types of its own, and so is not in the graph'
          when proname ^@ '__' then 'begins with __, which the graph leaves out'
          when is_mutation and provolatile <> 'v' then 'says @mutation and is not volatile'
          when not is_mutation and not is_told and provolatile = 'v' then 'is volatile and says no @mutation: it is not in the graph'
          when not is_mutation and not is_told and not is_of_a_row then 'has no row of app_public as its first parameter: it is no field of the graph'
        end as reason,
        case
          when prokind <> 'f' then 'Write a function.'
          when is_overloaded then 'Give each a name of its own.'
          when provariadic <> 0 then 'Take an array instead.'
          when proname ^@ '__' then 'Give it another name, or put it into app_hidden.'
          when is_mutation then 'alter function … volatile, or take @mutation away.'
          else 'Say @mutation in its comment, make it a field of a row, say @behavior -*, or put it into app_hidden.'
        end as remedy
      from functions
    ) as f
    where f.reason is not null
    union all
    select
      'foreign_key_without_index', 'warning', format('%s on %s', k.conname, k.conrelid::regclass),
      'has only indexes of a part of the rows, and so no field that leads back', 'create index on … (its columns first), without where'
    from pg_constraint k
    where k.contype = 'f' and k.conrelid in (select oid from tables) and k.confrelid in (select oid from tables)
      and exists (select from pg_index i where i.indrelid = k.conrelid and i.indpred is not null and (i.indkey::int2[])[0:i.indnkeyatts - 1] @> k.conkey)
      and not exists (select from pg_index i where i.indrelid = k.conrelid and i.indpred is null and (i.indkey::int2[])[0:i.indnkeyatts - 1] @> k.conkey)
    union all
    select 'enum_values_of_one_name', 'error', t.oid::regtype::text,
      format('has the values %s, which have one name in the graph: it cannot be built', string_agg(quote_literal(e.enumlabel), ' and ' order by e.enumsortorder)),
      'alter type … rename value … to …'
    from pg_enum e
    join pg_type t on t.oid = e.enumtypid
    where (
        t.typnamespace = (select oid from schema)
        or exists (select from pg_attribute a join tables on tables.oid = a.attrelid where a.atttypid in (t.oid, t.typarray) and a.attnum > 0)
        or exists (
          select from functions join pg_proc p using (oid)
          where p.prorettype in (t.oid, t.typarray) or array[t.oid, t.typarray] && coalesce(p.proallargtypes, p.proargtypes::oid[])))
      -- Signs that stand alone have names.
      and e.enumlabel !~ '^(?:[<>!]=|<>|!?~~|!~|[^\w\s])$'
    group by t.oid, regexp_replace(e.enumlabel, '[^A-Za-z0-9_]', '_', 'g')
    having count(*) > 1
    union all
    select 'key_without_id', 'warning', tables.name, format('has %I in its key, of the type %s, of which no id can be made', a.attname, format_type(a.atttypid, null)),
      'alter table … add primary key (…) of texts, numbers, times, UUIDs or enums'
    from tables
    join pg_index i on i.indrelid = tables.oid and i.indisprimary
    join pg_attribute a on a.attrelid = tables.oid and a.attnum = any (i.indkey::int2[])
    cross join lateral (
      with recursive types (oid, base) as (
        select t.oid, t.typbasetype from pg_type t where t.oid = a.atttypid
        union all
        select t.oid, t.typbasetype from types join pg_type t on t.oid = types.base
      )
      select oid from types where base = 0
    ) as base
    join pg_type t on t.oid = base.oid
    where t.typcategory not in ('N', 'S', 'B', 'D', 'E', 'I') and t.oid <> all (array['uuid', 'macaddr', 'macaddr8', '"char"']::regtype[])
    union all
    select 'no_comment', 'warning', tables.name, 'has no description', 'comment on … is ''…'', which clients read'
    from tables
    where coalesce(regexp_replace(tables.comment, '^(\s*@[^\n]*(\n|$))*', ''), '') !~ '\S'
  )
  select l.name, l.level, l.object, l.detail, l.remedy collate "default" as remedy
  from lints l
  where not exists (select from audit.accepted a where a.kind = l.name and a.object = l.object);
comment on view audit.graph_lints is 'What the graph ignores of the schema and its comments, or cannot honour; empty when all is well.';
comment on column audit.graph_lints.level is '`error`: the graph is not what the migration says. `warning`: it may be meant so.';

-- Expressions are compared as pg_get_expr writes them: blanks, case and redundant parentheses of the migration are gone.
create or replace function audit.compares_organization(expression text) returns boolean
  language sql immutable strict set search_path = pg_catalog, pg_temp
  as $$
    with recursive parts (part) as (
      values (expression)
      union
      select audit.conjuncts(parts.part) from parts
    ),
    claim (pattern) as (
      values ('(?:app_hidden\.current_organization_id\(\)|\(NULLIF\(current_setting\(''graph\.organization_id''::text, true\), ''''::text\)\)::uuid)')
    )
    select bool_or(part = 'false' or part ~ format('^\((?:organization_id = %1$s|%1$s = organization_id)\)$', format('(?:%1$s|\( SELECT %1$s AS [\w"]+\))', pattern)))
    from parts, claim
  $$;
comment on function audit.compares_organization(text) is
  'Whether an expression holds for rows of the organization of the claim only: `organization_id = (select app_hidden.current_organization_id())`, or the setting itself, is a part that must hold.';

create or replace function audit.is_always_true(expression text) returns boolean
  language sql immutable strict set search_path = pg_catalog, pg_temp
  as $$
    with recursive outlines (outline) as (
      select regexp_replace(regexp_replace(expression, '''[^'']*''', '0', 'g'), '^\((.*)\)$', '\1')
      union
      select regexp_replace(outline, '\([^()]*\)', '0', 'g') from outlines
    )
    select expression = 'true'
      or bool_or(outline !~ '[()]' and outline !~ ' AND ' and outline ~ '(^| OR )true($| OR )')
      -- Neither a column nor a function: what a constant says does not depend on who asks.
      or expression <> 'false' and regexp_replace(expression, '''[^'']*''(?:::[a-z ]+)?|\m(?:true|false|NULL|NOT|AND|OR|IS)\M', '', 'g') !~ '[A-Za-z_]'
    from outlines
  $$;
comment on function audit.is_always_true(text) is 'Whether an expression depends on neither the row nor a claim: `true`, `… or true`, or a constant.';

create or replace function audit.parts_without_organization(policy oid) returns text
  language sql stable set search_path = pg_catalog, pg_temp
  as $$
    select string_agg(part, ' and ' order by part)
    from pg_policy p
    cross join lateral (
      values
        ('using', pg_get_expr(p.polqual, p.polrelid), p.polcmd <> 'a'),
        ('with check', pg_get_expr(coalesce(p.polwithcheck, p.polqual), p.polrelid), p.polcmd in ('a', 'w', '*'))
    ) as parts (part, expression, applies)
    -- Without an expression no row passes.
    where p.oid = policy and applies and not audit.compares_organization(expression)
  $$;
comment on function audit.parts_without_organization(oid) is 'Which parts of a policy do not compare organization_id with the claim; null when both do.';

create or replace view audit.claim_lints with (security_invoker = true) as
  with schemas as (
    select oid, nspname from pg_namespace where nspname !~ '^(pg_|information_schema$|graphile_)'
  ),
  policies as (
    select
      p.oid, p.polrelid, p.polpermissive, p.polcmd, p.polroles, format('%s on %s', p.polname, p.polrelid::regclass) as object,
      pg_get_expr(p.polqual, p.polrelid) as using_expression, pg_get_expr(p.polwithcheck, p.polrelid) as check_expression,
      exists (
        select from pg_roles r, unnest(p.polroles) as named
        where r.rolname in ('graph_app', 'graph_user', 'graph_basic', 'graph_oauth') and (named = 0 or pg_has_role(r.oid, nullif(named, 0), 'member'))
      ) as of_requests,
      exists (select from pg_attribute a where a.attrelid = p.polrelid and a.attname = 'organization_id' and not a.attisdropped) as of_organizations
    from pg_policy p
  ),
  -- What a function says is as it was written; the others are as PostgreSQL writes them.
  texts (is_source, object, text) as (
    select true, p.oid::regprocedure::text, coalesce(pg_get_function_sqlbody(p.oid), p.prosrc)
    from pg_proc p
    where p.pronamespace in (select oid from schemas)
      and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
    union all
    select false, object, concat_ws(' ', using_expression, check_expression) from policies
    union all
    select false, c.oid::regclass::text, pg_get_viewdef(c.oid) from pg_class c where c.relkind in ('v', 'm') and c.relnamespace in (select oid from schemas)
    union all
    select false, format('%s.%I', a.attrelid::regclass, a.attname), pg_get_expr(d.adbin, d.adrelid)
    from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum join pg_class c on c.oid = d.adrelid
    where c.relnamespace in (select oid from schemas)
    union all
    select false, format('%I on %s', k.conname, k.conrelid::regclass), pg_get_constraintdef(k.oid)
    from pg_constraint k where k.contype = 'c' and k.conrelid <> 0 and k.connamespace in (select oid from schemas)
    union all
    select false, format('%I on %s', t.tgname, t.tgrelid::regclass), pg_get_triggerdef(t.oid)
    from pg_trigger t join pg_class c on c.oid = t.tgrelid where not t.tgisinternal and c.relnamespace in (select oid from schemas)
  ),
  lints (name, level, object, detail, remedy) as (
    select
      'policy_without_organization', 'error', p.object,
      format('lets a request pass from one organization to another: nothing in its %s compares organization_id with the claim', parts),
      'Begin it with organization_id = (select app_hidden.current_organization_id()) and …'
    from policies p
    cross join lateral audit.parts_without_organization(p.oid) as parts
    where p.of_requests and p.of_organizations and p.polpermissive and parts is not null
      -- A restrictive policy for the same roles may do it for them all.
      and not exists (
        select from policies r
        where r.polrelid = p.polrelid and not r.polpermissive and r.polcmd in ('*', p.polcmd)
          and (0 = any (r.polroles) or r.polroles @> p.polroles) and audit.parts_without_organization(r.oid) is null)
    union all
    select 'policy_always_true', 'error', object, 'holds for any row and any claim', 'Compare with a claim.'
    from policies
    where of_requests and polpermissive and (audit.is_always_true(using_expression) or audit.is_always_true(check_expression))
      -- That is a lint already.
      and not (polcmd <> 'r' and 'true' in (using_expression, check_expression))
    union all
    select 'claim_of_its_own', 'error', p.oid::regprocedure::text, 'does not return what its setting says, as policies believe',
      format('begin return nullif(current_setting(''graph.%s'', true), ''''); end', replace(p.proname, 'current_', ''))
    from pg_proc p
    where p.pronamespace = 'app_hidden'::regnamespace and p.proname in ('current_organization_id', 'current_application_id', 'current_user_id')
      and coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) !~* format(
        '^\s*(?:begin\s+return|select)\s+nullif\(current_setting\(''graph\.%s'', true\), ''''\)(?:::uuid)?\s*;?\s*(?:end\s*;?\s*)?$', replace(p.proname, 'current_', ''))
    union all
    select distinct 'setting_changed', 'error', object, 'may set graph.…, which policies take for the claims of the token', 'Only the server sets it: take it away.'
    from texts
    where is_source and text ~* '\m(?:set\s+(?:(?:local|session)\s+)?"?graph"?\s*\.|set\s+(?:local|session)\s+(?:%|''\s*\|\|)|(?:reset|discard)\s+(?:all\M|"?graph"?\s*\.))|''\s*set\s+(?:%|''\s*\|\|)'
      -- Of another setting it is none, if that is named.
      or exists (
        select from regexp_matches(text, case when is_source then '\mset_config\M' else '\mset_config\(' end || '(?:"?\s*\(?\s*(''[^'']*'')(?:::text)?\s*,)?', 'gi') as call
        where coalesce(call[1], '''graph.') ~* '^''\s*graph\.')
    union all
    select 'setting_changed', 'error', p.oid::regprocedure::text, format('begins with %s', array_to_string(p.proconfig, ', ')), 'alter function … reset all'
    from pg_proc p
    where p.pronamespace in (select oid from schemas) and exists (select from unnest(p.proconfig) as setting where setting ~* '^graph\.')
    union all
    select
      'setting_changed', 'error', case setrole when 0 then format('database %I', current_database()) else pg_get_userbyid(setrole)::text end,
      format('begins each session with %s', array_to_string(setconfig, ', ')), 'alter role … reset all, or alter database … reset all'
    from pg_db_role_setting
    where setdatabase in (0, (select oid from pg_database where datname = current_database()))
      and exists (select from unnest(setconfig) as setting where setting ~* '^graph\.')
    union all
    select 'connect_for_everybody', 'warning', format('database %I', datname), 'lets every role of the cluster connect, such as the server of another database',
      'npm run db:migrate as the owner of the database, or revoke connect on database … from public'
    from pg_database, aclexplode(coalesce(datacl, acldefault('d', datdba))) acl
    where datname = current_database() and acl.grantee = 0 and acl.privilege_type = 'CONNECT'
  )
  select l.name, l.level, l.object, l.detail, l.remedy collate "default" as remedy
  from lints l
  where not exists (select from audit.accepted a where a.kind = l.name and a.object = l.object);
comment on view audit.claim_lints is 'What lets a request pass for another, or into another organization; empty when all is well.';

-- A login role that may become a role of requests is known by its name, which `db:migrate` accepts here. What one may do to itself is a
-- finding as before: the settings of a role hold for every session, where a policy would not look for them.
create or replace view audit.findings with (security_invoker = true) as
  with memberships as (
    select
      member.oid, member.rolname, ours.rolname as request_role,
      exists (select from audit.accepted a where a.kind = 'authenticator_not_named' and a.object = member.rolname) as is_named
    from pg_roles member
    join pg_roles ours on ours.rolname in ('graph_app', 'graph_user', 'graph_basic', 'graph_oauth')
    where member.rolcanlogin and not member.rolsuper and pg_has_role(member.oid, ours.oid, 'member')
      -- A role that works as the owner is none of these.
      and not pg_has_role(member.oid, (select nspowner from pg_namespace where nspname = 'app_public'), 'member')
  ),
  authenticators as (
    select oid, rolname, bool_or(request_role = 'graph_oauth') as of_oauth, bool_or(request_role <> 'graph_oauth') as of_graph
    from memberships
    where is_named
    group by oid, rolname
  ),
  found (name, level, object, detail, remedy) as (
    select
      'authenticator_not_named',
      case when has_database_privilege(oid, (select d.oid from pg_database d where d.datname = current_database()), 'connect') then 'error' else 'warning' end,
      rolname::text,
      format('%s may become %s, and is not the role of AUTH_DATABASE_URL or OAUTH_DATABASE_URL', rolname, string_agg(request_role, ', ' order by request_role)),
      'drop role …, or revoke … from …; if it is the server''s: npm run db:migrate with its URL.'
    from memberships
    group by oid, rolname
    union all
    select
      'authenticator_setting', 'error', rolname::text, format('begins each session with %s', array_to_string(setconfig, ', ')),
      'Nothing of the service sets it: find out who did, then alter role … reset all, and alter role … in database … reset all.'
    from authenticators
    join pg_db_role_setting on setrole = oid and setdatabase in (0, (select oid from pg_database where datname = current_database()))
    union all
    select
      'authenticator_of_both', 'warning', rolname::text, 'may become the GraphQL and the OAuth server, though another role is for one of them',
      'When every server has OAUTH_DATABASE_URL: npm run db:migrate while none is connected, or revoke what it does not need.'
    from authenticators
    where of_oauth and of_graph and exists (select from authenticators where of_oauth <> of_graph)
  )
  select name, level, object, detail, remedy
  from audit.lints
  -- What a range type brings along is not to be set otherwise.
  where object not in (select objid::regprocedure::text from pg_depend where classid = 'pg_proc'::regclass and deptype = 'i')
  union all
  select name, level, object, detail, remedy from audit.graph_lints
  union all
  select name, level, object, detail, remedy from audit.claim_lints
  union all
  -- The other kinds are lints.
  select
    -- Without a trace is not beyond a right.
    'bypass_' || replace(kind, ' ', '_'), case kind when 'history' then 'warning' else 'error' end, object, format('%s %s', who, how),
    case kind when 'history' then 'select audit.record(…)' else 'Take the right away' end || '; or insert kind, object, who and the reason into audit.accepted.'
  from audit.bypasses
  where not known and kind not in ('table', 'partition', 'materialized view', 'foreign table', 'definer', 'view')
  union all
  select name, level, object, detail, remedy
  from found f
  where not exists (select from audit.accepted a where a.kind = f.name and a.object = f.object);

grant select on audit.smart_tags, audit.comment_lines, audit.graph_lints, audit.claim_lints to graph_auditor, graph_admin;
grant execute on function audit.compares_organization(text), audit.is_always_true(text), audit.parts_without_organization(oid), audit.conjuncts(text) to graph_auditor, graph_admin;

insert into audit.accepted (kind, object, who, reason) values
  ('policy_always_true', 'select_graph_oauth on oauth.throttles', '', 'Tries are counted before their organization is known; a key tells nothing without SECRET_KEY.'),
  ('setting_changed', 'app_hidden.count_row()', '', 'Counts the rows of a statement in graph.rows, which no policy reads.'),
  ('setting_changed', 'audit.become(audit.principals)', '', 'Becomes a caller to try what that one may, for the owner alone; what it sets ends with a subtransaction.')
on conflict on constraint accepted_pkey do update set reason = excluded.reason;
