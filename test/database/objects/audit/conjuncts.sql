CREATE OR REPLACE FUNCTION audit.conjuncts(expression text)
 RETURNS SETOF text
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    parts text[] = '{}';
    depth int = 0;
    quote text;
    character text;
    start int = 2;
  begin
    -- As pg_get_expr writes it: a conjunction stands in parentheses, and so does each part of it.
    if not expression ^@ '(' then
      return next expression;
      return;
    end if;
    for i in 1 .. length(expression) loop
      character = substr(expression, i, 1);
      if quote is not null then
        quote = nullif(quote, character);
      elsif character in ('''', '"') then
        quote = character;
      elsif character = '(' then
        depth = depth + 1;
      elsif character = ')' then
        depth = depth - 1;
      elsif depth = 1 and substr(expression, i, 5) = ' AND ' then
        parts = parts || substr(expression, start, i - start);
        start = i + 5;
      end if;
    end loop;
    if parts = '{}' then
      return next expression;
    else
      return query select unnest(parts || substr(expression, start, length(expression) - start));
    end if;
  end
  $function$;
comment on function audit.conjuncts(text) is 'The parts of a policy''s expression that must all hold.';
grant execute on function audit.conjuncts(text) to graph_admin;
grant execute on function audit.conjuncts(text) to graph_auditor;
