-- The smart tags that the graph knows, and the lines of comments that look like one. A tag that the graph does not know does nothing.
-- So it is a finding: nothing of a migration is ignored in silence.

create or replace view audit.smart_tags with (security_invoker = true) as
  select tag, kinds
  from (
    values
      -- This service's own, in plugins.
      ('argument', '{constraint,foreign key,index,column}'::text[]),
      ('connection', '{table}'),
      ('filter', '{column,constraint}'),
      ('mutation', '{function}'),
      ('oneOf', '{type}'),
      ('param', '{function}'),
      -- For audit.matrix alone.
      ('personalData', '{column}'),
      ('partOf', '{column}'),
      ('payloadField', '{function}'),
      ('relatedType', '{foreign key}'),
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
      ('foreignKey', '{table,type}'),
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
comment on view audit.smart_tags is 'The smart tags that the graph knows, and on what: a tag that is not here does nothing. A tag of your own is added in migrations/lints/01-smart-tags.sql.';

create or replace view audit.comment_lines with (security_invoker = true) as
  with schemas as (
    select oid, nspname from pg_namespace where nspname in ('app_public', 'app_hidden', 'oauth', 'audit')
  ),
  -- Materialized: else the comments of PostgreSQL's 3,300 functions are read before these are left out.
  comments (kind, object, relation_id, object_id, is_public, comment) as materialized (
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

grant select on audit.smart_tags, audit.comment_lines to graph_auditor, graph_admin;
