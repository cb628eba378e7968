--! Previous: sha1:4b968b56834dae1e6af60f5074b178e2d65b53e5
--! Hash: sha1:548cc64d54a31717531b5b1b44f907da7ab2d3a5
--! Message: graph

-- Where an application enters the graph, the limit of rows, and what mutations ask of their arguments.
--
-- Which lists the app has, the comments of their tables say. Which rows they show, the policies of these tables decide.
-- A person enters the graph by the own row of app_public.users.

create view app_public.app with (security_invoker = true) as
  select organization_id, id, name
  from oauth.applications
  where organization_id = (select app_hidden.current_organization_id()) and id = (select app_hidden.current_application_id());
comment on view app_public.app is E'@primaryKey id\n@unique organization_id|@behavior -*\n@behavior -type:node\nThe API application that the token was issued to, and all that it may read.';
comment on column app_public.app.name is E'@notNull\nName of the app.';
grant select on app_public.app to graph_app;

-- A nested page is read for each row of the page around it, so that rows multiply. This ends a statement that finds too many.

create function app_hidden.count_row() returns int
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    rows int = coalesce(nullif(current_setting('graph.rows', true), ''), '0')::int + 1;
  begin
    if rows > nullif(current_setting('graph.row_limit', true), '')::int then
      raise program_limit_exceeded using message = 'The operation found too many rows';
    end if;
    perform set_config('graph.rows', rows::text, true);
    return rows;
  end
  $$;
comment on function app_hidden.count_row() is 'Counts the rows of a transaction; program_limit_exceeded beyond the setting graph.row_limit.';
grant execute on function app_hidden.count_row() to graph_app, graph_user, graph_basic;

-- What mutations ask of their arguments. An error that names a column and no table is about the argument of that name.

create function app_hidden.require_one(argument text, one boolean, other boolean) returns void
  language plpgsql immutable set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function app_hidden.require_one(text, boolean, boolean) is 'Refuses the argument unless exactly one of two identifiers is given: it, or the external one.';

create function app_hidden.require_values(given text[], arguments text[], "values" text[]) returns void
  language plpgsql immutable set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function app_hidden.require_values(text[], text[], text[]) is 'Refuses the first of these arguments that is given and null.';
grant execute on function app_hidden.require_one(text, boolean, boolean), app_hidden.require_values(text[], text[], text[]) to graph_app;
