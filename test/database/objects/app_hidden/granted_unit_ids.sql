CREATE OR REPLACE FUNCTION app_hidden.granted_unit_ids()
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ begin return array(select unit_id from app_hidden.unit_access); end $function$;
comment on function app_hidden.granted_unit_ids() is 'The units granted to the current person directly. Its caller''s policy on unit_access says whose they are.';
grant execute on function app_hidden.granted_unit_ids() to graph_user;
