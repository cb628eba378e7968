-- What the graph ignores of the schema and its comments, or cannot honour. `npm run dev` and `npm run db:commit` read it, too.
-- To accept a finding with a reason, insert its name, its object and '' into audit.accepted.

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
      exists (
        select from pg_type t join pg_class c on c.oid = t.typrelid
        where t.oid = p.proargtypes[0] and c.relnamespace = p.pronamespace and not c.relispartition) as is_of_a_row,
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
  filters as (
    select t.object, t.value, a.atttypid, coalesce((regexp_split_to_array(trim(t.value), '\s+'))[2], 'anyOf') as operator
    from tags t
    join pg_attribute a on a.attrelid = t.relation_id and format('%s.%I', a.attrelid::regclass, a.attname) = t.object
    where t.tag = 'filter' and t.kind = 'column' and t.is_public
  ),
  -- What PostgreSQL compares: the type beneath a domain, the attributes of a composite type, the items of an array.
  compared as (
    with recursive parts (whole, oid, is_whole) as (
      select f.atttypid, f.atttypid, true from filters f
      union
      select p.whole, part.oid, p.is_whole and t.typtype = 'd'
      from parts p
      join pg_type t using (oid)
      cross join lateral (
        select a.atttypid from pg_attribute a where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
        union all
        select case when t.typtype = 'd' then t.typbasetype when t.typcategory = 'A' and t.typarray = 0 then t.typelem end
      ) as part (oid)
      where part.oid is not null
    )
    select * from parts
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
      'tag_without_effect', 'error', f.object, format('says @filter %s, %s', f.value, f.reason),
      '@filter <argument>, on a column whose rows are to be found by it, or @filter <argument> {<type>} on a key.'
    from (
      select
        t.object, t.value,
        case
          when t.kind = 'constraint' and not exists (select from pg_constraint k where k.oid = t.object_id and k.contype in ('p', 'u'))
            then 'on a constraint that is no key'
          when t.value !~ '\w' then 'which names no argument'
          when t.value !~ '^\s*[_A-Za-z]\w*' then 'which is no name in GraphQL'
          when t.object ~ '\.organization_id$' then 'though the graph does not show that column'
          when split_part(trim(t.value), ' ', 1) in ('first', 'last', 'offset', 'before', 'after', 'orderBy', 'condition', 'ids', 'externalIdentifiers')
            then 'an argument that connections have already'
          when count(*) over (partition by t.relation_id, split_part(trim(t.value), ' ', 1)) > 1 then 'as another column or key of the table does'
        end as reason
      from tags t
      where t.tag = 'filter' and t.kind in ('column', 'constraint') and t.is_public
    ) as f
    where f.reason is not null
    union all
    select
      'tag_without_effect', 'error', f.object, format('says @filter %s, which cannot compare values of %s', f.value, format_type(f.atttypid, null)),
      '@filter <argument> isNull, or a @filter on a column of a type that has the operator.'
    from filters f
    where f.operator <> 'isNull' and exists (
      select from compared c
      join pg_type t using (oid)
      where c.whole = f.atttypid and case
        when t.typtype = 'b' and t.typcategory = 'A' and t.typarray = 0 then c.is_whole
        else t.typtype = 'b' and not exists (
          select from pg_opclass o
          join pg_am m on m.oid = o.opcmethod
          where o.opcdefault and (m.amname = 'btree' or m.amname = 'hash' and f.operator in ('anyOf', 'is'))
            and (o.opcintype = t.oid or exists (
              select from pg_cast k
              where k.castsource = t.oid and k.casttarget = o.opcintype and k.castmethod = 'b' and k.castcontext = 'i'))
            -- The operators of hstore's class have names of their own; parts of a value are compared by the class itself.
            and (not c.is_whole or exists (
              select from pg_amop a
              join pg_operator p on p.oid = a.amopopr
              where a.amopfamily = o.opcfamily
                and p.oprname = case f.operator when 'from' then '>=' when 'until' then '<' else '=' end)))
      end)
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
    where t.typcategory not in ('N', 'S', 'B', 'D', 'E', 'I') and t.oid not in ('uuid'::regtype, 'macaddr'::regtype, 'macaddr8'::regtype, '"char"'::regtype)
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

grant select on audit.graph_lints to graph_auditor, graph_admin;

-- The graph has one schema for all roles. What it offers of a table is to work for each role that may read the table, and a right to
-- columns may leave out the one that is compared. Rights to functions may leave out those of its operators, of a check or of a default:
-- an extension's functions are granted to no role. Each role is granted what it needs, since others, such as dblink's, are for no client.
create or replace view audit.column_lints with (security_invoker = true) as
  with recursive columns as (
    select c.oid as relation_id, c.relkind, a.attname, a.attnum, format('%s.%I', c.oid::regclass, a.attname) as object
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'app_public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
      -- Clients never see it.
      and a.attname <> 'organization_id'
  ),
  -- Once for all columns.
  tags as materialized (
    select kind, object, object_id, tag, value
    from audit.comment_lines
    where kind in ('column', 'constraint') and is_tag and tag in ('filter', 'behavior')
  ),
  offered as (
    select c.*, 'the filter ' || split_part(trim(t.value), ' ', 1) as what
    from columns c
    join tags t on t.object = c.object and t.kind = 'column' and t.tag = 'filter'
    union all
    select c.*, 'the filter ' || split_part(trim(t.value), ' ', 1)
    from columns c
    join pg_constraint k on k.conrelid = c.relation_id and c.attnum = any (k.conkey)
    join tags t on t.object_id = k.oid and t.kind = 'constraint' and t.tag = 'filter'
    union all
    select c.*, 'the filter externalIdentifiers' from columns c where c.attname = 'external_identifier'
    union all
    select c.*, 'an order'
    from columns c
    where (c.relkind in ('v', 'm') or exists (
        select from pg_index i
        join pg_class index on index.oid = i.indexrelid
        join pg_am on pg_am.oid = index.relam and pg_am.amname = 'btree'
        where i.indrelid = c.relation_id and i.indpred is null and c.attnum = any (i.indkey::int2[])))
      and not exists (
        select from tags t where t.object = c.object and t.tag = 'behavior' and t.value ~ '(^|\s)-(\*|(attribute:)?orderBy)(\s|$)')
  ),
  unreadable as (
    select o.object, o.relation_id, o.attname, string_agg(distinct o.what, ' and ') as what, string_agg(distinct r.role, ', ') as roles
    from offered o
    join audit.request_roles r on r.kind = 'token'
    where has_any_column_privilege(r.role_id, o.relation_id, 'select') and not has_column_privilege(r.role_id, o.relation_id, o.attnum, 'select')
    group by o.object, o.relation_id, o.attname
  ),
  -- The type of a column, with what a domain and an array are made of.
  bases as (
    select c.object, c.relation_id, c.attnum, a.atttypid as type_id, false as is_element
    from columns c join pg_attribute a on a.attrelid = c.relation_id and a.attnum = c.attnum
    union all
    select b.object, b.relation_id, b.attnum, case t.typtype when 'd' then t.typbasetype else t.typelem end, b.is_element or t.typtype <> 'd'
    from bases b join pg_type t on t.oid = b.type_id and (t.typtype = 'd' or t.typcategory = 'A')
  ),
  -- By which the graph finds rows and orders them; PostgreSQL's own are everybody's.
  operators as (
    select b.object, b.relation_id, b.attnum, b.type_id, o.oprcode as function_id, o.oprnamespace as schema_id
    from bases b
    join pg_opclass c on c.opcintype = b.type_id and c.opcdefault
    join pg_am on pg_am.oid = c.opcmethod and pg_am.amname = 'btree'
    join pg_amop m on m.amopfamily = c.opcfamily and m.amoplefttype = b.type_id and m.amoprighttype = b.type_id
    join pg_operator o on o.oid = m.amopopr
    where not b.is_element and o.oprnamespace <> 'pg_catalog'::regnamespace
      and (b.object in (select object from offered) or exists (
        select from pg_constraint k where k.conrelid = b.relation_id and k.contype in ('p', 'u', 'f') and b.attnum = any (k.conkey)))
  ),
  -- What checks, defaults, indexes and policies of a table, checks of its domains, and views call.
  expressions (relation_id, class_id, id, commands, roles) as (
    select k.conrelid, 'pg_constraint'::regclass, k.oid, '{insert,update}'::text[], null::oid[] from pg_constraint k where k.contype = 'c'
    union all
    select b.relation_id, 'pg_constraint'::regclass, k.oid, '{insert,update}', null from bases b join pg_constraint k on k.contypid = b.type_id
    union all
    select d.adrelid, 'pg_attrdef'::regclass, d.oid, '{insert,update}', null from pg_attrdef d
    union all
    select i.indrelid, 'pg_class'::regclass, i.indexrelid, '{insert,update}', null from pg_index i
    union all
    select p.polrelid, 'pg_policy'::regclass, p.oid, '{select,insert,update}', p.polroles from pg_policy p
    union all
    select r.ev_class, 'pg_rewrite'::regclass, r.oid, '{select}', null from pg_rewrite r
  ),
  needed as (
    select o.object, o.function_id::oid, r.role
    from operators o
    join audit.request_roles r on r.kind = 'token' and has_column_privilege(r.role_id, o.relation_id, o.attnum, 'select')
    where not has_function_privilege(r.role_id, o.function_id, 'execute')
    union
    -- A value is written as a text, and read from one.
    select b.object, f.function_id::oid, r.role
    from bases b
    join pg_type t on t.oid = b.type_id and t.typtype = 'b' and t.typcategory <> 'A'
    cross join lateral (values (t.typoutput, 'select'), (t.typinput, 'insert'), (t.typinput, 'update')) as f (function_id, command)
    join audit.request_roles r on r.kind = 'token' and has_column_privilege(r.role_id, b.relation_id, b.attnum, f.command)
    where not has_function_privilege(r.role_id, f.function_id::oid, 'execute')
      and not exists (select from pg_cast k where k.castsource = t.oid and k.casttarget = 'text'::regtype and k.castmethod = 'b')
    union
    select e.relation_id::regclass::text, p.oid, r.role
    from expressions e
    join pg_depend d on d.classid = e.class_id and d.objid = e.id
    left join pg_operator o on d.refclassid = 'pg_operator'::regclass and o.oid = d.refobjid
    join pg_proc p on p.oid = case when d.refclassid = 'pg_proc'::regclass then d.refobjid else o.oprcode end
    join audit.request_roles r on r.kind = 'token' and (e.roles is null or 0 = any (e.roles) or r.role_id = any (e.roles))
    where e.relation_id in (select relation_id from columns) and has_any_column_privilege(r.role_id, e.relation_id, array_to_string(e.commands, ','))
      and not has_function_privilege(r.role_id, p.oid, 'execute')
  ),
  lints (name, level, object, detail, remedy) as (
    select
      'column_not_readable', 'error', u.object,
      format('is needed by %s; %s may not read it, though other columns of the table', u.what, u.roles),
      format('grant select (%I) on %s to %s', u.attname, u.relation_id::regclass, u.roles)
    from unreadable u
    union all
    select
      'function_not_executable', 'error', n.object, format('needs functions that %s may not call', string_agg(distinct n.role, ', ')),
      format('grant execute on function %s to %s', string_agg(distinct n.function_id::regprocedure::text, ', '), string_agg(distinct n.role, ', '))
    from needed n
    group by n.object
    union all
    select distinct
      'operator_not_found', 'error', o.object, format('is of %s, whose operators are in %s, where no request looks', o.type_id::regtype, o.schema_id::regnamespace),
      coalesce(
        (select format('alter extension %I set schema public', e.extname)
         from pg_depend d join pg_extension e on e.oid = d.refobjid
         where d.classid = 'pg_type'::regclass and d.objid = o.type_id and d.deptype = 'e'),
        'alter operator … set schema public')
    from operators o
    where o.schema_id is distinct from to_regnamespace('public')
  )
  select l.name, l.level, l.object, l.detail, l.remedy collate "default" as remedy
  from lints l
  where not exists (select from audit.accepted a where a.kind = l.name and a.object = l.object);
comment on view audit.column_lints is 'Filters, orders and expressions that do not work for a role that may use their table; empty when all is well.';
grant select on audit.column_lints to graph_auditor, graph_admin;
