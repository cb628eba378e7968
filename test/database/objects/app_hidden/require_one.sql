CREATE OR REPLACE FUNCTION app_hidden.require_one(argument text, one boolean, other boolean)
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    if one = other then
      raise invalid_parameter_value using
        message = format(
          'Give either %s or %s.', argument,
          case argument
            when 'id' then 'externalIdentifier'
            when 'ids' then 'externalIdentifiers'
            else regexp_replace(argument, 'Id$', 'ExternalIdentifier')
          end),
        column = argument;
    end if;
  end
  $function$;
comment on function app_hidden.require_one(text,boolean,boolean) is 'Refuses the argument unless exactly one of two identifiers is given: it, or the external one.';
grant execute on function app_hidden.require_one(text,boolean,boolean) to graph_app;
