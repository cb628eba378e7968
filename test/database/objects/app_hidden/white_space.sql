CREATE OR REPLACE FUNCTION app_hidden.white_space()
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    return e'\u0009\u000a\u000b\u000c\u000d\u0020\u0085\u00a0\u1680'
      '\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
  end
  $function$;
comment on function app_hidden.white_space() is 'The characters that String.prototype.trim removes, and U+0085: a constant, made once for each statement.';
grant execute on function app_hidden.white_space() to graph_admin;
grant execute on function app_hidden.white_space() to graph_app;
grant execute on function app_hidden.white_space() to graph_helper;
