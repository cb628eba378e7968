CREATE OR REPLACE FUNCTION audit.record_update()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    secrets text[] = tg_argv[2];
    derived text[] = tg_argv[3];
    old_value jsonb = to_jsonb(old) - derived;
    new_value jsonb = to_jsonb(new) - derived;
    changed text[] = array(
      select key from jsonb_object_keys(new_value) as key where old_value -> key is distinct from new_value -> key order by key);
  begin
    -- Runs as graph_helper because nobody may write the history by hand.
    if changed <> '{}' then
      insert into audit.changes (
        organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id)
      values (
        coalesce(new_value ->> 'organization_id', new_value ->> 'id')::uuid, coalesce(new_value ->> tg_argv[0], new_value ->> tg_argv[1])::uuid,
        format('%I.%I', tg_table_schema, tg_table_name), (new_value ->> tg_argv[1])::uuid, 'update', changed,
        (select coalesce(jsonb_object_agg(key, old_value -> key), '{}') from unnest(changed) as key where key <> all (secrets)),
        (select coalesce(jsonb_object_agg(key, new_value -> key), '{}') from unnest(changed) as key where key <> all (secrets)),
        coalesce(nullif(current_setting('role'), 'none'), session_user), session_user,
        nullif(current_setting('graph.application_id', true), '')::uuid, nullif(current_setting('graph.user_id', true), '')::uuid,
        nullif(current_setting('graph.grant_id', true), '')::uuid, nullif(left(current_setting('graph.request_id', true), 200), ''));
    end if;
    return null;
  end
  $function$;
alter function audit.record_update() owner to graph_helper;
comment on function audit.record_update() is 'Records the columns of a row that an update has changed; an update that changes nothing leaves no trace.';
