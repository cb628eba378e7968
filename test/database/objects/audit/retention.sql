CREATE OR REPLACE FUNCTION audit.retention()
 RETURNS interval
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ select interval '400 days' $function$;
comment on function audit.retention() is 'How long changes are kept. A migration that replaces it changes that; nobody else can.';
grant execute on function audit.retention() to graph_admin;
grant execute on function audit.retention() to graph_auditor;
