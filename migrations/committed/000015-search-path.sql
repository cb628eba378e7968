--! Previous: sha1:a8bf3a69f59e184d3c35a3004ccf071f86b3813b
--! Hash: sha1:7168d96a5634c65883cd1c28ee0517ee06f8d5c8
--! Message: search path

-- Every function says where it finds what it names, so that nobody's search path can lead it elsewhere.
--
-- PostgreSQL merges an SQL function into the query around it only when it sets nothing. Those that are called for each statement or
-- row are in PL/pgSQL from here on, which keeps its plans: a claim costs 5 µs then, in SQL it would cost 75 (PostgreSQL 15). What
-- hung on the viewer and the app as functions, which had to be merged, are relations.

create or replace function app_hidden.current_organization_id() returns uuid
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ begin return nullif(current_setting('graph.organization_id', true), ''); end $$;

create or replace function app_hidden.current_application_id() returns uuid
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ begin return nullif(current_setting('graph.application_id', true), ''); end $$;

create or replace function app_hidden.current_user_id() returns uuid
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ begin return nullif(current_setting('graph.user_id', true), ''); end $$;

create or replace function app_hidden.uuid_v7() returns uuid
  language plpgsql volatile parallel safe set search_path = pg_catalog, pg_temp
  as $$
  declare
    microseconds bigint = extract(epoch from clock_timestamp()) * 1000000;
  begin
    -- 48 bits of milliseconds, the version and 12 bits of what is below a millisecond, the variant and 62 random bits.
    return encode(
      substring(int8send(microseconds / 1000) from 3)
      || int2send((x'7000'::int + microseconds % 1000 * 4096 / 1000)::int2)
      || substring(uuid_send(gen_random_uuid()) from 9),
      'hex');
  end
  $$;

create or replace function app_hidden.trimmed(value text) returns text
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$
  begin
    return regexp_replace(value,
      '^[\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+|[\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+$',
      '', 'g');
  end
  $$;

create or replace function app_hidden.is_text(value text) returns boolean
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$
  begin
    return char_length(value) between 1 and 200
      and value !~ '[\u0001-\u001f\u007f-\u009f]'
      and value = app_hidden.trimmed(value);
  end
  $$;

create or replace function app_hidden.granted_unit_ids() returns uuid[]
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ begin return array(select unit_id from app_hidden.unit_access); end $$;

create or replace function app_hidden.first_accessible_unit_ids(count int, after uuid) returns setof uuid
  language plpgsql stable rows 100 set search_path = pg_catalog, pg_temp
  as $$
  begin
    return query
    with granted as materialized (
      select access.unit_id, first.unit_id as first_id
      from app_hidden.unit_access access
      cross join lateral (
        select unit_id
        from app_hidden.unit_ancestors
        where organization_id = (select app_hidden.current_organization_id())
          and ancestor_id = access.unit_id
          and unit_id > coalesce(first_accessible_unit_ids.after, '00000000-0000-0000-0000-000000000000')
        order by unit_id
        limit 1
      ) as first
    ),
    -- `count` grants with different first rows hold at least `count` units up to the last of these: the page ends there.
    bound as materialized (
      select coalesce(
        (select distinct first_id from granted order by first_id offset first_accessible_unit_ids.count - 1 limit 1),
        'ffffffff-ffff-ffff-ffff-ffffffffffff') as id
    )
    select distinct a.unit_id
    from granted
    cross join lateral (
      select unit_id
      from app_hidden.unit_ancestors
      where organization_id = (select app_hidden.current_organization_id())
        and ancestor_id = granted.unit_id
        and unit_id between granted.first_id and (select id from bound)
      order by unit_id
      limit first_accessible_unit_ids.count
    ) as a
    where granted.first_id <= (select id from bound)
    order by a.unit_id
    limit first_accessible_unit_ids.count;
  end
  $$;

-- Called once, or where it makes no difference.

alter function app_hidden.count_row() set search_path = pg_catalog, pg_temp;
alter function app_hidden.lock_user(uuid, text) set search_path = pg_catalog, pg_temp;
alter function app_hidden.units_insert_ancestors() set search_path = pg_catalog, pg_temp;
alter function app_hidden.units_lock_tree() set search_path = pg_catalog, pg_temp;
alter function app_hidden.units_move_subtrees() set search_path = pg_catalog, pg_temp;
alter function app_hidden.units_place() set search_path = pg_catalog, pg_temp;
alter function app_public.user_create(uuid, jsonb) set search_path = pg_catalog, pg_temp;
alter function app_public.user_delete(uuid, text) set search_path = pg_catalog, pg_temp;
alter function app_public.user_update(uuid, text, jsonb) set search_path = pg_catalog, pg_temp;
alter function audit.record(regclass, name, name, name[], name[]) set search_path = pg_catalog, pg_temp;
alter function audit.retention() set search_path = pg_catalog, pg_temp;

-- What hangs on the viewer and the app: their tables say so themselves. Whose rows they are is the policies' business, as ever.

drop function if exists app_public.viewer_accessible_units(app_public.viewer);
drop function if exists app_public.viewer_card_assignments(app_public.viewer);
drop function if exists app_public.app_users(app_public.app);
drop function if exists app_public.app_root_units(app_public.app);

comment on view app_public.viewer is E'@primaryKey id\n@unique organization_id|@behavior -*\n@unique organization_id,id|@behavior -*\n@behavior -type:node\nThe person that the token was issued for.';
comment on view app_public.app is E'@primaryKey id\n@unique organization_id|@behavior -*\n@behavior -type:node\nThe API application that the token was issued to, and all that it may read.';

comment on table app_public.users is E'@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName users|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All users of the organization.\nA person of one organization.';
comment on table app_public.units is E'@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName rootUnits|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription Units at the top of the hierarchy.\n@foreignKey (organization_id) references app_public.viewer (organization_id)|@foreignFieldName accessibleUnits|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription Every unit that the person can access: those granted, and all below them.\nA unit in the tree of an organization.';
comment on table app_public.card_assignments is E'@foreignKey (organization_id, user_id) references app_public.viewer (organization_id, id)|@foreignFieldName cardAssignments|@listSuffix omit|@forwardBehavior -*|@backwardBehavior -connection +list|@backwardDescription Cards that are assigned to the person.\nA card in the hands of a user.';
