CREATE OR REPLACE FUNCTION app_hidden.require_values(given text[], arguments text[], "values" text[])
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    missing text = (
      select a.argument
      from unnest(arguments, "values") with ordinality as a (argument, value, place)
      where a.argument = any (given) and a.value is null
      order by a.place
      limit 1);
  begin
    if missing is not null then
      raise invalid_parameter_value using message = format('%s cannot be null; leave it out to keep its value.', missing), column = missing;
    end if;
  end
  $function$;
comment on function app_hidden.require_values(text[],text[],text[]) is 'Refuses the first of these arguments that is given and null.';
grant execute on function app_hidden.require_values(text[],text[],text[]) to graph_app;
