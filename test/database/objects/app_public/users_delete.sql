CREATE OR REPLACE FUNCTION app_public.users_delete(ids uuid[] DEFAULT NULL::uuid[], external_identifiers text[] DEFAULT NULL::text[])
 RETURNS SETOF app_public.user_delete_result
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    own constant uuid = app_hidden.current_organization_id();
    deleted_ids uuid[];
    deleted_identifiers text[];
  begin
    perform app_hidden.require_one('ids', ids is not null, external_identifiers is not null);
    if cardinality(coalesce(ids::text[], external_identifiers)) = 0 then
      raise invalid_parameter_value using
        message = 'Give 1 to 1,000 users', column = case when ids is null then 'externalIdentifiers' else 'ids' end;
    end if;
    perform app_hidden.lock_units();
    if ids is not null then
      with deleted as (
        delete from app_public.users u where u.organization_id = own and u.id = any (users_delete.ids) returning u.id
      )
      select array_agg(d.id) into deleted_ids from deleted d;
    else
      with deleted as (
        delete from app_public.users u where u.organization_id = own and u.external_identifier = any (users_delete.external_identifiers)
        returning u.external_identifier
      )
      select array_agg(d.external_identifier) into deleted_identifiers from deleted d;
    end if;

    return query
      select
        g.id, g.external_identifier,
        case
          when g.number > 1 then 'NOT_FOUND'
          when g.id = any (deleted_ids) or g.external_identifier = any (deleted_identifiers) then 'DELETED'
          else 'NOT_FOUND'
        end::app_public.delete_outcome
      from (
        select r.*, row_number() over (partition by r.id, r.external_identifier collate "C" order by r.place) as number
        from unnest(users_delete.ids, users_delete.external_identifiers) with ordinality as r (id, external_identifier, place)
      ) as g
      order by g.place;
  end
  $function$;
comment on function app_public.users_delete(uuid[],text[]) is '@mutation
@payloadField results
@param {User} ids The users to delete: 1 to 1,000.
@param externalIdentifiers The users to delete, by the identifiers that the client system assigned: 1 to 1,000.
Deletes users with all card assignments, grants and tokens, in one transaction. Exactly one of the arguments is given. The results are in the order of what was given; what is given twice is found once. Needs an app token (scope `app`).';
grant execute on function app_public.users_delete(uuid[],text[]) to graph_app;
