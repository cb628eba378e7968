--! Previous: sha1:04ec5dc03697c26bac42191d9daabe01bb4949c3
--! Hash: sha1:91f534cc9426659fa850ecc9d12a7a46eda4715a
--! Message: organizations

-- An organization is a tenant: it owns applications, users, units and cards, and nothing crosses from one to another.
-- Its id is the first column of each key of theirs, and each policy compares it with the claim.
--
-- No request reads this table. A request knows its organization by the id alone, which its token says.

create table app_hidden.organizations (
  id uuid not null default app_hidden.uuid_v7(),
  name text not null,
  constraint organizations_pkey primary key (id),
  constraint organizations_name_key unique (name),
  constraint organizations_name_text check (app_hidden.is_text(name))
);
comment on table app_hidden.organizations is 'A tenant: the owner of applications, users, units and cards.';

alter table app_hidden.organizations enable row level security, force row level security;
create policy all_graph_admin on app_hidden.organizations for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_hidden.organizations is 'Administration sees and changes every organization.';
grant select, insert, update, delete on app_hidden.organizations to graph_admin;
-- Absent on purpose: any right of a request. An organization is known to it by its id alone.

-- An organization may move to another database of the service, a cell, while it works: logical replication copies its rows. A row here says
-- that it is being moved, or has moved. Every transaction for an organization asks: a check of its token, or of its client.
--
-- The cut-over fences off what is under way by an advisory lock of the organization. A transaction shares it until its end, and the cut-over
-- takes it alone: it waits for those before, and those after are refused. The lock ends with the session, so that a cut-over that was
-- killed leaves the organization working. Without a row, which is the rule, nobody takes the lock.

create table app_hidden.organization_moves (
  organization_id uuid not null,
  move_id uuid not null,
  state text not null,
  peer text not null,
  arrived_at timestamptz,
  constraint organization_moves_pkey primary key (organization_id),
  constraint organization_moves_state_known check (state in ('copying', 'moved', 'arriving', 'arrived')),
  constraint organization_moves_peer_length check (length(peer) between 1 and 200),
  constraint organization_moves_arrived_whole check (state <> 'arrived' or arrived_at is not null)
);
-- Absent on purpose: a foreign key. The row is there before the organization arrives, and it alone does not move.
comment on table app_hidden.organization_moves is 'Which organizations are being moved to another database, have moved there, or come from one.';
comment on column app_hidden.organization_moves.move_id is 'The same in both databases.';
comment on column app_hidden.organization_moves.state is
  'Here it still works while it is `copying`, and again when it has `arrived`; it does not once it has `moved`, nor while it is `arriving`.';
comment on column app_hidden.organization_moves.peer is 'The other database: its system identifier and oid.';
comment on column app_hidden.organization_moves.arrived_at is 'When it came from another database: the feed has nothing of it from before.';

alter table app_hidden.organization_moves enable row level security, force row level security;
create policy all_graph_admin on app_hidden.organization_moves for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_hidden.organization_moves is 'Administration moves organizations.';
create policy select_graph_helper on app_hidden.organization_moves for select to graph_helper using (true);
comment on policy select_graph_helper on app_hidden.organization_moves is 'app_hidden.is_served asks for every role that works for an organization.';
create policy select_graph_purger on app_hidden.organization_moves for select to graph_purger using (true);
comment on policy select_graph_purger on app_hidden.organization_moves is 'The purge leaves out organizations that are being moved or have moved.';
grant select, insert, update, delete on app_hidden.organization_moves to graph_admin;
grant select on app_hidden.organization_moves to graph_helper;
grant select (organization_id, state) on app_hidden.organization_moves to graph_purger;

create function app_hidden.move_lock(organization_id uuid) returns bigint
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select hashtextextended('app_hidden.organization_moves ' || organization_id, 0) $$;
comment on function app_hidden.move_lock(uuid) is 'The advisory lock by which a cut-over fences off the transactions of an organization.';

create function app_hidden.is_served(organization_id uuid) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set row_security = on
  as $$
  declare
    found_state text;
  begin
    -- Runs as graph_helper because nobody who works for an organization may look at moves. It is volatile, so that each statement here sees
    -- what was committed before it.
    select m.state into found_state
    from app_hidden.organization_moves m where m.organization_id = is_served.organization_id;
    if found_state = 'copying' then
      if not pg_try_advisory_xact_lock_shared(app_hidden.move_lock(is_served.organization_id)) then
        return false;
      end if;
      select m.state into found_state
      from app_hidden.organization_moves m where m.organization_id = is_served.organization_id;
    end if;
    return coalesce(found_state in ('copying', 'arrived'), true);
  end
  $$;
comment on function app_hidden.is_served(uuid) is
  'Whether this database serves the organization. If so, it does until the end of the transaction: a cut-over waits for that.';

create function app_hidden.require_service(organization_id uuid) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  begin
    if not app_hidden.is_served(require_service.organization_id) then
      raise exception 'the organization is being moved to another database, or has moved there' using errcode = 'MOVED';
    end if;
  end
  $$;
comment on function app_hidden.require_service(uuid) is 'Fails with SQLSTATE MOVED unless app_hidden.is_served.';

create function app_hidden.moving_organization_ids() returns uuid[]
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select array(select m.organization_id from app_hidden.organization_moves m where m.state <> 'arrived') $$;
comment on function app_hidden.moving_organization_ids() is 'The organizations that are being moved, or have moved, of which nothing is purged here.';
grant execute on function app_hidden.moving_organization_ids() to graph_purger;

create function app_hidden.arrived_at() returns timestamptz
  language plpgsql stable parallel safe security definer set search_path = pg_catalog, pg_temp set row_security = on
  as $$
  begin
    -- Runs as graph_helper because nobody who reads a feed may look at moves; it tells of the own organization alone.
    return (select m.arrived_at from app_hidden.organization_moves m where m.organization_id = app_hidden.current_organization_id());
  end
  $$;
comment on function app_hidden.arrived_at() is 'When the organization of the claims came from another database; null if it did not.';

grant create on schema app_hidden to graph_helper;
alter function app_hidden.is_served(uuid) owner to graph_helper;
alter function app_hidden.arrived_at() owner to graph_helper;
revoke create on schema app_hidden from graph_helper;
grant execute on function app_hidden.move_lock(uuid) to graph_helper, graph_admin;
grant execute on function app_hidden.is_served(uuid), app_hidden.require_service(uuid) to graph_oauth, graph_worker, graph_helper, graph_admin;
grant execute on function app_hidden.arrived_at() to graph_app, graph_worker, graph_admin;

-- The order of locks. Every write of an organization takes its locks in this order, so that no two writes wait for each other:
--
-- 1. The trees of units of all organizations, shared, if a statement without claims might write the same units (app_hidden.lock_units).
-- 2. The organization (app_hidden.lock_organization): exclusive for a write of several rows, shared for a write of one row and what refers to
--    it. So what a write of several rows has read stays as it is, and it may lock its rows in any order.
-- 3. Rows: those that the written row refers to, then the row itself.
-- 4. Unique values that the row gets or gives up (app_hidden.lock_value): external identifier, e-mail address, external authentication token.
--
-- An update of one row that changes no unique value waits for that row alone, and takes no other lock.

-- Every write calls this function, so that it reads the claim without a further call.
create function app_hidden.lock_organization(shared boolean default false) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    key bigint = hashtextextended(nullif(current_setting('graph.organization_id', true), ''), hashtextextended('app_hidden.organizations', 0));
  begin
    if shared then
      perform pg_advisory_xact_lock_shared(key);
    else
      perform pg_advisory_xact_lock(key);
    end if;
  end
  $$;
comment on function app_hidden.lock_organization(boolean) is
  'Locks the organization of the claims until the transaction ends. A function that writes several of its rows calls it first; one that writes a row shares the lock.';

-- Two writes that share two unique values could wait for each other: two people exchange addresses, or one person is added twice at once. So
-- an update locks the value that it changes, and its old value. An insert may leave one value unlocked: two inserts that share two values then
-- still share one that is locked.
create function app_hidden.lock_value(rule name, value text, old_value text default null) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    of_rule bigint = hashtextextended(current_setting('graph.organization_id', true), hashtextextended(rule::text, 0));
    key bigint = hashtextextended(value, of_rule);
    old_key bigint = hashtextextended(old_value, of_rule);
  begin
    perform pg_advisory_xact_lock(least(key, old_key));
    if key <> old_key then
      perform pg_advisory_xact_lock(greatest(key, old_key));
    end if;
  end
  $$;
comment on function app_hidden.lock_value(name, text, text) is
  'Locks a value of a unique constraint in the organization of the claims until the transaction ends, and the one that the row gives up.';
grant execute on function app_hidden.lock_organization(boolean), app_hidden.lock_value(name, text, text) to graph_app, graph_admin;

-- What is sealed under SECRET_KEY opens in a database under the same key alone. So each has a checksum of its own by the key that its service
-- has, and of a key one can say whether it is that one.

create table app_hidden.secret_key_check (
  is_only boolean not null default true,
  salt bytea not null,
  checksum bytea not null,
  constraint secret_key_check_pkey primary key (is_only),
  constraint secret_key_check_one check (is_only),
  constraint secret_key_check_salt_length check (octet_length(salt) = 16),
  constraint secret_key_check_checksum_length check (octet_length(checksum) = 32)
);
comment on table app_hidden.secret_key_check is 'By which SECRET_KEY the service of this database seals.';
comment on column app_hidden.secret_key_check.checksum is 'HMAC-SHA-256 of the salt, under a subkey of SECRET_KEY.';
alter table app_hidden.secret_key_check enable row level security, force row level security;
create policy all_graph_admin on app_hidden.secret_key_check for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_hidden.secret_key_check is 'Administration compares and changes keys.';
create policy insert_graph_helper on app_hidden.secret_key_check for insert to graph_helper with check (is_only);
comment on policy insert_graph_helper on app_hidden.secret_key_check is 'app_hidden.note_secret_key notes the key of the first service.';
create policy select_graph_helper on app_hidden.secret_key_check for select to graph_helper using (is_only);
comment on policy select_graph_helper on app_hidden.secret_key_check is 'app_hidden.note_secret_key gives the noted one to a service, which compares it with its own.';
grant select, insert, update, delete on app_hidden.secret_key_check to graph_admin;
grant select, insert on app_hidden.secret_key_check to graph_helper;

create function app_hidden.note_secret_key(inout salt bytea, inout checksum bytea)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set row_security = on
  as $$
  begin
    -- Runs as graph_helper because a service that notes its key needs not change it.
    insert into app_hidden.secret_key_check (salt, checksum)
    select note_secret_key.salt, note_secret_key.checksum
    where not exists (select from app_hidden.secret_key_check)
    on conflict on constraint secret_key_check_pkey do nothing;
    select c.salt, c.checksum into salt, checksum from app_hidden.secret_key_check c;
  end
  $$;
comment on function app_hidden.note_secret_key(bytea, bytea) is
  'Notes the key by which the first service of this database seals; to a later one it gives the noted one.';
grant create on schema app_hidden to graph_helper;
alter function app_hidden.note_secret_key(bytea, bytea) owner to graph_helper;
revoke create on schema app_hidden from graph_helper;
grant execute on function app_hidden.note_secret_key(bytea, bytea) to graph_oauth, graph_admin;
