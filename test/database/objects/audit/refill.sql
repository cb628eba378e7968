CREATE OR REPLACE FUNCTION audit.refill(source audit.recorded, at timestamp with time zone, organization_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    has_organization boolean = exists (select from pg_attribute a where a.attrelid = source.relation and a.attname = 'organization_id' and not a.attisdropped);
    has_subject boolean = source.subject_column = any (source.key_columns);
    written text = (
      select string_agg(quote_ident(a.attname), ', ' order by a.attnum)
      from pg_attribute a where a.attrelid = source.relation and a.attnum > 0 and not a.attisdropped and a.attgenerated = '');
    -- As the history has it; by a uuid an index finds the row.
    named text = (
      select case
        when count(*) > 1
          then format('jsonb_build_object(%s)::text = changed.row_id', string_agg(format('%1$L, present.%1$I', a.attname), ', '))
        when min(a.atttypid::regtype::text) = 'uuid' then format('present.%I = changed.row_id::uuid', min(a.attname::text))
        else format('to_jsonb(present.%I) #>> ''{}'' = changed.row_id', min(a.attname::text))
      end
      from pg_attribute a where a.attrelid = source.relation and a.attname = any (source.row_columns))
      || case when has_organization then ' and present.organization_id = changed.organization_id' else '' end
      || case when has_subject then format(' and present.%I = changed.subject_id', source.subject_column) else '' end;
    asked text = case when organization_id is null then '' else format(' and %s = %L', case when has_organization then 'organization_id' else 'id' end, organization_id) end;
  begin
    if exists (
      select from audit.changes c
      where c.relation = source.name and c.occurred_at > at
        and (c.command = 'update' and c.columns && source.key_columns
          or c.command in ('insert', 'delete')
            and not c.columns @> array(select unnest(source.key_columns) except select unnest(source.derived)))
        and (c.organization_id = refill.organization_id or refill.organization_id is null))
    then
      raise exception using
        errcode = 'feature_not_supported',
        message = format('%s cannot be rebuilt: a key was changed or renamed since %s', source.name, at);
    end if;
    if exists (
      select from audit.changes c
      where c.organization_id = '00000000-0000-0000-0000-000000000000' and c.relation = source.name and c.occurred_at > at
        and c.command = 'backfill')
    then
      raise warning using message = format('%s was backfilled since %s: what that wrote is taken for what was there', source.name, at);
    end if;
    -- A row is there if the first that happened to it since is no insert. It is what its first delete has recorded, or else what it is; the
    -- earliest update of a column says what that was before. A row of a person who was deleted since says nothing any more.
    execute format(
      'with undone as materialized (
         select c.organization_id, c.row_id, case when %1$L then c.subject_id end as subject_id, c.id, c.command, c.before
         from audit.changes c
         where c.relation = %2$L and c.occurred_at > $1 and c.command in (''insert'', ''update'', ''delete'')
           and (c.organization_id = $2 or $2 is null)
       ),
       changed as materialized (
         select u.organization_id, u.row_id, u.subject_id,
           (array_agg(u.command order by u.id))[1] as first_command,
           min(u.id) filter (where u.command = ''delete'') as deleted_id,
           (array_agg(u.before order by u.id) filter (where u.command = ''delete''))[1] as deleted
         from undone u
         group by u.organization_id, u.row_id, u.subject_id
       ),
       rebuilt as (
         select case when changed.deleted_id is null then to_jsonb(present) else changed.deleted end || coalesce(earlier.value, ''{}'') as value
         from changed
         left join %3$s present on %4$s
         left join lateral (
           select jsonb_object_agg(e.key, e.value order by u.id desc) as value
           from undone u
           cross join jsonb_each(u.before) as e
           where u.organization_id = changed.organization_id and u.row_id = changed.row_id and u.subject_id is not distinct from changed.subject_id
             and u.command = ''update'' and (changed.deleted_id is null or u.id < changed.deleted_id)
         ) as earlier on true
         where changed.first_command <> ''insert''
       )
       insert into %5$s (%6$s)
       select %6$s from %3$s present where not exists (select from changed where %4$s)%7$s
       union all
       select r.* from rebuilt, lateral (select %6$s from jsonb_populate_record(null::%3$s, rebuilt.value)) as r where rebuilt.value is not null',
      has_subject, source.name, source.relation, named, source.name, written, asked)
      using at, organization_id;
  end
  $function$;
comment on function audit.refill(audit.recorded,timestamp with time zone,uuid) is 'Fills the copy of a recorded table, which has its name, with the rows as they were; of one organization, or of all.';
grant execute on function audit.refill(audit.recorded,timestamp with time zone,uuid) to graph_admin;
