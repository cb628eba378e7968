CREATE OR REPLACE FUNCTION audit.visible_at(principal text, at timestamp with time zone)
 RETURNS TABLE(relation regclass, key text, value jsonb)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET quote_all_identifiers TO 'off'
 SET jit TO 'off'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET "TimeZone" TO 'UTC'
 SET bytea_output TO 'hex'
 SET extra_float_digits TO '1'
AS $function$
  declare
    tables oid[] = array(select r.relation from audit.recorded r where r.rebuildable order by r.name);
    sources audit.recorded[] = array(select r from audit.recorded r where r.rebuildable order by r.name);
    source audit.recorded;
    candidate audit.principals;
    statements text[] = '{}';
    statement text;
    organization_id uuid;
  begin
    begin
      organization_id = (audit.find_principal(principal)).organization_id;
    exception
      -- Deleted since, it may have been of any.
      when no_data_found then null;
    end;
    begin
      perform audit.rebuild(at, organization_id);
      candidate = audit.find_principal(principal);
      foreach source in array sources loop
        statements = statements || array(
          select format(
            'select %s::oid::regclass, %s, jsonb_strip_nulls(jsonb_build_object(%s)) from %s t', source.relation::oid,
            (
              select case count(*) when 1 then format('t.%I::text', min(k)) else format('jsonb_build_object(%s)::text', string_agg(format('%L, t.%I', k, k), ', ')) end
              from unnest(source.key_columns) as k where k <> 'organization_id'),
            (
              select string_agg(format('%L, t.%I', a.attname, a.attname), ', ' order by a.attnum)
              from pg_attribute a
              where a.attrelid = m.relation and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and (m.columns = '{}' or a.attname = any (m.columns))
                and a.attname <> all (source.key_columns || source.secrets || source.derived)),
            source.name)
          from audit.matrix m
          where m.relation = to_regclass(source.name) and m.role = candidate.role and m.command = 'select' and m.granted);
      end loop;
      foreach source in array sources loop
        perform audit.let_find(source.name::regclass, candidate.role);
      end loop;
      perform audit.become(candidate);
      foreach statement in array statements loop
        return query execute statement;
      end loop;
      raise exception using errcode = 'AUDIT';
    exception
      when sqlstate 'AUDIT' then null;
    end;
  end
  $function$;
comment on function audit.visible_at(text,timestamp with time zone) is 'Each row of a recorded table that the principal could see at a time, by the present policies: its key as audit.who_could takes it, and what the history records of it. For the owner.';
grant execute on function audit.visible_at(text,timestamp with time zone) to graph_admin;
