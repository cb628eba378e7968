--! Previous: sha1:d53d60aa5d26a81753dbf4920abb6470913cffd4
--! Hash: sha1:ba603517a55a9ad746522e736822176cfb570215
--! Message: graph read both ways

-- The graph is read both ways: from a unit to who may enter it, from a person to where they may go, from a card to who has it. Each object
-- says when it was added and last changed.

drop view if exists app_public.access_grants;
drop trigger if exists cards_900_updated on app_public.cards;
drop trigger if exists units_900_updated on app_public.units;
drop trigger if exists users_900_updated on app_public.users;
drop function if exists app_hidden.set_updated_at();
drop policy if exists select_graph_app on app_hidden.unit_ancestors;
drop policy if exists select_graph_basic on app_hidden.unit_access;
drop policy if exists select_graph_app on app_hidden.unit_access;
drop view if exists app_public.viewer;

-- Times. A row that was there before has that of this migration: a default that is a constant rewrites no table.

alter table app_public.users
  add column if not exists created_at timestamptz not null default now(),
  add column if not exists updated_at timestamptz not null default now();
alter table app_public.units
  add column if not exists created_at timestamptz not null default now(),
  add column if not exists updated_at timestamptz not null default now();
alter table app_public.cards
  add column if not exists external_identifier text,
  add column if not exists created_at timestamptz not null default now(),
  add column if not exists updated_at timestamptz not null default now();
alter table app_public.card_assignments
  add column if not exists created_at timestamptz not null default now();
alter table app_hidden.unit_access
  add column if not exists created_at timestamptz not null default now();

comment on column app_public.users.created_at is 'When the user was added.';
comment on column app_public.users.updated_at is 'When the user was last changed.';
comment on column app_public.units.created_at is 'When the unit was added.';
comment on column app_public.units.updated_at is 'When the unit itself was last changed: moving a unit above it is no change.';
comment on column app_public.cards.external_identifier is 'Identifier that the client system assigns to the card; unique in the organization, compared exactly.';
comment on column app_public.cards.created_at is 'When the card was added.';
comment on column app_public.cards.updated_at is 'When the card was last changed.';
comment on column app_public.card_assignments.created_at is 'When the card was assigned.';

-- Not now(): of two transactions the one that waits for the other may have begun before it. The conditions name no column, whose type could
-- not be changed any more; in one of users, which have a generated column, the row cannot stand either.
create function app_hidden.set_updated_at() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
  begin
    if to_jsonb(new) - tg_argv <> to_jsonb(old) - tg_argv then
      new.updated_at := clock_timestamp();
    end if;
    return new;
  end
  $$;
comment on function app_hidden.set_updated_at() is 'Notes when a row was changed, unless nothing of it is; its arguments are columns that do not count.';
create trigger users_900_updated before update on app_public.users
  for each row execute function app_hidden.set_updated_at('email_lowercase');
-- graph_helper writes the ancestors of what is below a unit that moves, and may write nothing else of it.
create trigger units_900_updated before update on app_public.units
  for each row when (current_user <> 'graph_helper' and old.* is distinct from new.*) execute function app_hidden.set_updated_at('ancestor_ids');
create trigger cards_900_updated before update on app_public.cards
  for each row when (old.* is distinct from new.*) execute function app_hidden.set_updated_at();

-- The history has times of its own.
select audit.record('app_public.users', secrets => '{external_authentication_token_ciphertext,external_authentication_token_hash}', derived => '{created_at,updated_at}');
select audit.record('app_public.units', derived => '{ancestor_ids,created_at,updated_at}');
-- As audit.record has it, but not asked for each unit below one that moves, of which it would record nothing.
create or replace trigger audit_update after update on app_public.units
  for each row when (current_user <> 'graph_helper' and old.* is distinct from new.*)
  execute function audit.record_update('id', 'id', '{}', '{ancestor_ids,created_at,updated_at}');
select audit.record('app_public.cards', derived => '{created_at,updated_at}');
select audit.record('app_public.card_assignments', subject_id => 'user_id', derived => '{created_at}');
select audit.record('app_hidden.unit_access', subject_id => 'user_id', row_id => 'unit_id', derived => '{created_at}');

revoke insert on app_public.users from graph_app;
grant insert (
  organization_id, id, external_identifier, full_name, email, locale, time_zone,
  external_authentication_token_ciphertext, external_authentication_token_hash
) on app_public.users to graph_app;
grant select (created_at, updated_at) on app_public.users to graph_user, graph_basic;

-- Grants are part of the graph. The table stays where it is, since every rule about units is built on it.

create policy select_graph_app on app_hidden.unit_access for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on app_hidden.unit_access is 'An application sees who may enter which unit of its organization.';
create policy select_graph_basic on app_hidden.unit_access for select to graph_basic using (false);
comment on policy select_graph_basic on app_hidden.unit_access is 'A basic token reads no row.';
grant select on app_hidden.unit_access to graph_app, graph_basic;

create view app_public.access_grants with (security_invoker = true) as
  select organization_id, user_id, unit_id, created_at from app_hidden.unit_access;
comment on view app_public.access_grants is
  E'@primaryKey user_id,unit_id\n'
  '@foreignKey (organization_id, user_id) references app_public.users (organization_id, id)|@fieldName user|@foreignFieldName accessGrants|@notNull|@backwardBehavior -list +connection|@forwardDescription Who may enter.|@backwardDescription The units that the user may enter, each with all below it.\n'
  '@foreignKey (organization_id, unit_id) references app_public.units (organization_id, id)|@fieldName unit|@foreignFieldName accessGrants|@notNull|@backwardBehavior -list +connection|@forwardDescription The unit that the user may enter, and all below it.|@backwardDescription Who may enter by a grant on this very unit.\n'
  'Access of a user to a unit and to everything below it.';
comment on column app_public.access_grants.user_id is '@behavior -*';
comment on column app_public.access_grants.unit_id is '@behavior -*';
comment on column app_public.access_grants.created_at is E'@notNull\n@behavior -orderBy\nWhen access was granted.';
grant select on app_public.access_grants to graph_app, graph_user, graph_basic;

create policy select_graph_app on app_hidden.unit_ancestors for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on app_hidden.unit_ancestors is 'An application sees which unit of its organization is below which.';
grant select on app_hidden.unit_ancestors to graph_app;

-- As before, of any user: an application asks for many.
drop function if exists app_hidden.first_accessible_unit_ids(int, uuid);
drop function if exists app_hidden.first_accessible_unit_ids(uuid, int, uuid);
create function app_hidden.first_accessible_unit_ids(user_id uuid, count int, after uuid) returns setof uuid
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
      where access.organization_id = (select app_hidden.current_organization_id()) and access.user_id = first_accessible_unit_ids.user_id
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
comment on function app_hidden.first_accessible_unit_ids(uuid, int, uuid) is 'The first `count` units after a key that a user may enter, in the order of the key.';
grant execute on function app_hidden.first_accessible_unit_ids(uuid, int, uuid) to graph_app, graph_user;

-- What leads where. `viewer` is the person's own User from here on.

comment on table app_public.users is
  E'@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName users|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All users of the organization.\n'
  '@connection Unit.usersWithAccess|@where child.id = any (array(select user_id from app_hidden.unit_access where organization_id = parent.organization_id and unit_id = any (parent.ancestor_ids)))|@description Everybody who may enter the unit, by a grant on it or on one above it.\n'
  'A person of one organization.';
comment on column app_public.users.email_lowercase is E'@behavior -*\n@filter emails anyCase\nThe e-mail address by which it is unique and looked up.';
comment on table app_public.units is
  E'@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName units|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All units of the organization.\n'
  '@connection App.rootUnits|@where child.parent_id is null|@description Units at the top of the hierarchy.\n'
  '@connection User.accessibleUnits|@where child.ancestor_ids && array(select unit_id from app_hidden.unit_access where organization_id = parent.organization_id and user_id = parent.id)|@description Every unit that the user may enter: those granted, and all below them.\n'
  'A unit in the tree of an organization.';
comment on table app_public.cards is
  E'@interface mode:single type:type\n@name card\n'
  '@type BeaconCard name:BeaconCard attributes:proximity_uuid!,major!,minor!\n'
  '@type NfcCard name:NfcCard attributes:nfc_identifier!\n'
  '@type IdentificationCode name:IdentificationCode\n'
  '@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName cards|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All cards of the organization.\n'
  'Something that opens for its holder.';
comment on table app_public.card_assignments is 'A card in the hands of a user.';
comment on constraint card_assignments_user_id_fkey on app_public.card_assignments is
  E'@fieldName user\n@foreignFieldName cardAssignments\n@listSuffix omit\n@notNull\n@backwardBehavior -connection +list\n@forwardDescription Who has the card.\n@backwardDescription Cards that are assigned to the user.';
comment on constraint card_assignments_card_id_fkey on app_public.card_assignments is
  E'@fieldName card\n@foreignFieldName cardAssignments\n@listSuffix omit\n@notNull\n@backwardBehavior -connection +list\n@forwardDescription The card.\n@backwardDescription To whom the card is assigned.';

-- A tag of a table that leads to rows by a condition.

create or replace view audit.smart_tags with (security_invoker = true) as
  select tag, kinds
  from (
    values
      -- This service's own, in plugins.
      ('argument', '{constraint,foreign key,index,column}'::text[]),
      ('connection', '{table}'),
      ('filter', '{column}'),
      ('mutation', '{function}'),
      ('oneOf', '{type}'),
      ('param', '{function}'),
      -- PostGraphile's, as far as this graph is made by them: it has no generated mutation and no root field of a table.
      ('arg0modifier', '{function}'),
      ('arg0variant', '{function}'),
      ('backwardBehavior', '{foreign key}'),
      ('backwardDescription', '{foreign key}'),
      ('behavior', '{table,column,constraint,foreign key,function,type}'),
      ('deprecated', '{table,column,foreign key,function}'),
      ('enum', '{table,constraint,type}'),
      ('fieldName', '{foreign key,function}'),
      ('foreignConnectionFieldName', '{foreign key}'),
      ('foreignFieldName', '{foreign key}'),
      ('foreignKey', '{table}'),
      ('foreignSimpleFieldName', '{foreign key}'),
      ('foreignSingleFieldName', '{foreign key}'),
      ('forwardBehavior', '{foreign key}'),
      ('forwardDescription', '{foreign key}'),
      ('hasDefault', '{column}'),
      ('implements', '{table}'),
      ('interface', '{table}'),
      ('isIndexed', '{column,foreign key}'),
      ('listSuffix', '{table,foreign key,function}'),
      ('name', '{table,column,function,type}'),
      ('notNull', '{column,foreign key,function,type}'),
      ('partitionExpose', '{table}'),
      ('primaryKey', '{table}'),
      ('ref', '{table}'),
      ('refVia', '{table}'),
      ('returnType', '{function}'),
      ('type', '{table,column}'),
      ('unionMember', '{table}'),
      ('unique', '{table}')
  ) as tags (tag, kinds);
comment on view audit.smart_tags is 'The smart tags that the graph knows, and on what: a tag that is not here does nothing. A migration that adds one replaces this view.';
