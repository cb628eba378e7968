CREATE OR REPLACE FUNCTION audit.is_as_shipped(function text, body text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select exists (
      select from pg_proc p
      where p.pronamespace = 'app_hidden'::regnamespace and p.proname = function and p.pronargs = 0 and p.prosrc = body and not p.prosecdef
        and p.proconfig = '{"search_path=pg_catalog, pg_temp"}')
  $function$;
comment on function audit.is_as_shipped(text,text) is 'Whether a function of app_hidden has this body and no setting of its own, and so returns what is known.';
grant execute on function audit.is_as_shipped(text,text) to graph_admin;
