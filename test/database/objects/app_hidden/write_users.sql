CREATE OR REPLACE FUNCTION app_hidden.write_users(judged app_hidden.judged_user[], source text)
 RETURNS app_public.users[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'auto'
 SET enable_seqscan TO 'off'
AS $function$
  declare
    organization uuid = app_hidden.current_organization_id();
    known_ids uuid[] = array(select (before).id from unnest(judged) where outcome = 'UPDATED');
    changes_by_id jsonb;
    changed app_public.users[];
    created app_public.users[];
    unit_ids_by_id jsonb;
    locked int;
  begin
    if known_ids <> '{}' then
      perform from app_public.users u where u.organization_id = organization and u.id = any (known_ids) order by u.id for no key update;
      get diagnostics locked = row_count;
      if locked < cardinality(known_ids) then
        raise foreign_key_violation using message = 'A user was deleted meanwhile.';
      end if;

      -- One statement, so that users may exchange addresses and tokens; before the new ones, who may get what these give up.
      changes_by_id = (
        select jsonb_object_agg((before).id, changes) from unnest(judged) where outcome = 'UPDATED' and before *<> after);
      with changed as (
        update app_public.users u set (
          full_name, email, locale, time_zone, external_authentication_token_ciphertext, external_authentication_token_hash
        ) = (
          -- Of the row as it is by now: what is not given stays as another session may have changed it meanwhile.
          select c.full_name, c.email, c.locale, c.time_zone, c.external_authentication_token_ciphertext, c.external_authentication_token_hash
          from jsonb_populate_record(u, changes_by_id -> u.id::text) as c
        )
        where u.organization_id = organization and u.id = any (known_ids) and changes_by_id ? u.id::text
        returning u
      )
      select array_agg(u) into changed from changed;
    end if;

    with created as (
      insert into app_public.users as u (
        organization_id, id, external_identifier, full_name, email, locale, time_zone,
        external_authentication_token_ciphertext, external_authentication_token_hash)
      select
        organization, coalesce((changes ->> 'id')::uuid, app_hidden.uuid_v7()), (after).external_identifier, (after).full_name, (after).email,
        (after).locale, (after).time_zone, (after).external_authentication_token_ciphertext, (after).external_authentication_token_hash
      from unnest(judged)
      where outcome = 'CREATED'
      order by place
      returning u
    )
    select array_agg(u) into created from created;

    if exists (select from unnest(judged) where outcome in ('CREATED', 'UPDATED') and unit_ids is not null) then
      unit_ids_by_id = (select jsonb_object_agg((before).id, to_jsonb(unit_ids)) from unnest(judged) where outcome = 'UPDATED' and unit_ids is not null);
      delete from app_hidden.unit_access a
      where a.organization_id = organization and a.user_id = any (known_ids) and a.source is not distinct from write_users.source
        and not unit_ids_by_id -> a.user_id::text ? a.unit_id::text;

      update app_hidden.unit_access a set valid_from = null, valid_until = null
      where a.organization_id = organization and a.user_id = any (known_ids) and a.source is not distinct from write_users.source
        and num_nonnulls(a.valid_from, a.valid_until) > 0 and unit_ids_by_id ? a.user_id::text;

      insert into app_hidden.unit_access (organization_id, user_id, unit_id, source)
      select organization, coalesce((j.before).id, c.id), granted.unit_id, write_users.source
      from unnest(judged) as j
      left join unnest(created) as c on c.external_identifier = j.external_identifier
      cross join lateral unnest(j.unit_ids) as granted (unit_id)
      where j.outcome in ('CREATED', 'UPDATED')
      on conflict do nothing;
    end if;
    return changed || created;
  end
  $function$;
comment on function app_hidden.write_users(app_hidden.judged_user[],text) is 'Writes those users of a sync that are new or differ, and their grants of this source. Returns the users that it has written.';
grant execute on function app_hidden.write_users(app_hidden.judged_user[],text) to graph_admin;
grant execute on function app_hidden.write_users(app_hidden.judged_user[],text) to graph_app;
