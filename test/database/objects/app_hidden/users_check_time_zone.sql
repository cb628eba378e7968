CREATE OR REPLACE FUNCTION app_hidden.users_check_time_zone()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    problem text;
  begin
    -- Mostly it is spelled as in the list, which is found out in a third of the time.
    if tg_op = 'UPDATE' and new.time_zone = old.time_zone or exists (select from app_hidden.time_zones z where z.name = new.time_zone) then
      return new;
    end if;
    problem = (select z.problem from app_hidden.time_zone_problems(array[new.time_zone]) as z);
    if problem is not null then
      raise check_violation using message = problem, schema = tg_table_schema, table = tg_table_name, column = 'time_zone';
    end if;
    return new;
  end
  $function$;
comment on function app_hidden.users_check_time_zone() is 'Refuses a time zone that is unknown, and names the nearest.';
