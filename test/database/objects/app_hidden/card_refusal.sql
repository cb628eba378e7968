CREATE OR REPLACE FUNCTION app_hidden.card_refusal(rule oid)
 RETURNS app_public.sync_error
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select row (r.code, case when r.argument in ('proximityUuid', 'major', 'minor') then 'beacon' else r.argument end, r.message)::app_public.sync_error
    from app_hidden.refusal_of(card_refusal.rule) as r
  $function$;
comment on function app_hidden.card_refusal(oid) is 'What a client reads when a row of a sync of cards breaks a constraint.';
grant execute on function app_hidden.card_refusal(oid) to graph_admin;
grant execute on function app_hidden.card_refusal(oid) to graph_app;
