CREATE OR REPLACE FUNCTION app_hidden.white_space()
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    return U&'\0009\000a\000b\000c\000d\0020\0085\00a0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200a\2028\2029\202f\205f\3000\feff';
  end
  $function$;
comment on function app_hidden.white_space() is 'The characters that String.prototype.trim removes, and U+0085: a constant, made once for each statement.';
grant execute on function app_hidden.white_space() to graph_admin;
grant execute on function app_hidden.white_space() to graph_app;
grant execute on function app_hidden.white_space() to graph_helper;
