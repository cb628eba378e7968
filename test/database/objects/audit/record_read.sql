CREATE OR REPLACE FUNCTION audit.record_read(relation text, share double precision)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET row_security TO 'on'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET "TimeZone" TO 'UTC'
 SET bytea_output TO 'hex'
 SET extra_float_digits TO '1'
AS $function$
  declare
    organization_id uuid;
  begin
    if share < 1 and random() >= share then
      return true;
    end if;
    if pg_is_in_recovery() then
      -- The service asks the primary then.
      raise exception 'reading % is recorded, which a replica cannot', relation using errcode = 'STALE';
    end if;
    -- Runs as graph_helper because nobody may write the history by hand. Before it is known whose a client is, there is no organization.
    organization_id = coalesce(nullif(current_setting('graph.organization_id', true), ''), '00000000-0000-0000-0000-000000000000');
    insert into audit.changes (
      organization_id, subject_id, relation, row_id, command, columns, after, role, login, application_id, user_id, grant_id, request_id)
    values (
      organization_id, organization_id, relation, organization_id::text, 'select', '{}', jsonb_build_object('share', share),
      coalesce(nullif(current_setting('role'), 'none'), session_user), session_user,
      nullif(current_setting('graph.application_id', true), '')::uuid, nullif(current_setting('graph.user_id', true), '')::uuid,
      nullif(current_setting('graph.grant_id', true), '')::uuid, nullif(left(current_setting('graph.request_id', true), 200), ''));
    return true;
  end
  $function$;
alter function audit.record_read(text,double precision) owner to graph_helper;
comment on function audit.record_read(text,double precision) is 'Adds to the history that a statement reads a table, or does so for this share of them; always true. For the policies of audit.record_reads.';
