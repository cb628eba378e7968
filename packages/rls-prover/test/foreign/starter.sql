-- A starter for PostGraphile with teams and billing: persons sign in by a session, whose id is the only claim. Built as such starters are:
-- what is exposed in `app_public`, helpers in `app_hidden`, secrets in `app_private`. Holes on purpose are marked `Hole:`.
create role visitor nologin;
create role starter_authenticator login noinherit;
grant visitor to starter_authenticator;

create schema app_public;
create schema app_hidden;
create schema app_private;
grant usage on schema app_public, app_hidden to visitor;
alter default privileges revoke execute on functions from public;

create table app_public.users (
  id int primary key generated always as identity,
  username text not null unique check (username ~ '^[a-z][a-z0-9-]+$'),
  name text,
  is_admin boolean not null default false
);
create table app_private.sessions (
  id uuid primary key default gen_random_uuid(),
  user_id int not null references app_public.users on delete cascade,
  last_active timestamptz not null default now()
);
create table app_private.user_secrets (
  user_id int primary key references app_public.users on delete cascade,
  password_hash text not null
);

create function app_public.current_session_id() returns uuid language sql stable as $$
  select nullif(current_setting('jwt.claims.session_id', true), '')::uuid
$$;
create function app_public.current_user_id() returns int language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select s.user_id from app_private.sessions s where s.id = app_public.current_session_id()
$$;
grant execute on function app_public.current_session_id(), app_public.current_user_id() to visitor;

create table app_public.user_emails (
  id int primary key generated always as identity,
  user_id int not null default app_public.current_user_id() references app_public.users on delete cascade,
  email text not null check (email ~ '[^@]+@[^@]+\.[^@]+'),
  is_verified boolean not null default false,
  unique (user_id, email)
);
create table app_public.teams (
  id int primary key generated always as identity,
  slug text not null unique check (length(slug) between 2 and 40),
  name text not null,
  plan text not null default 'free' check (plan in ('free', 'pro', 'enterprise'))
);
create table app_public.team_memberships (
  id int primary key generated always as identity,
  team_id int not null references app_public.teams on delete cascade,
  user_id int not null references app_public.users on delete cascade,
  is_owner boolean not null default false,
  unique (team_id, user_id)
);
create table app_public.team_invitations (
  id int primary key generated always as identity,
  team_id int not null references app_public.teams on delete cascade,
  email text not null,
  code text not null
);
create table app_public.invoices (
  id int primary key generated always as identity,
  team_id int not null references app_public.teams,
  amount_cents int not null check (amount_cents >= 0),
  paid_at timestamptz
);
create table app_public.plans (code text primary key, price_cents int not null);

create function app_hidden.my_team_ids() returns setof int language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select m.team_id from app_public.team_memberships m where m.user_id = app_public.current_user_id()
$$;
grant execute on function app_hidden.my_team_ids() to visitor;

alter table app_public.users enable row level security;
create policy select_all on app_public.users for select using (true);
create policy update_self on app_public.users for update using (id = app_public.current_user_id());
grant select on app_public.users to visitor;
grant update (name) on app_public.users to visitor;

alter table app_public.user_emails enable row level security;
create policy select_own on app_public.user_emails for select using (user_id = app_public.current_user_id());
create policy insert_own on app_public.user_emails for insert with check (user_id = app_public.current_user_id());
create policy delete_own on app_public.user_emails for delete using (user_id = app_public.current_user_id());
grant select, delete on app_public.user_emails to visitor;
-- Hole: `is_verified` is for the server, and a person may write it. No default invariant says so.
grant insert (user_id, email, is_verified) on app_public.user_emails to visitor;

alter table app_public.teams enable row level security;
create policy select_mine on app_public.teams for select using (id in (select app_hidden.my_team_ids()));
-- Hole: any member changes the plan, since all columns are granted. No default invariant says so.
create policy update_mine on app_public.teams for update using (id in (select app_hidden.my_team_ids()));
grant select, update on app_public.teams to visitor;

alter table app_public.team_memberships enable row level security;
create policy select_mine on app_public.team_memberships for select using (team_id in (select app_hidden.my_team_ids()));
create policy leave on app_public.team_memberships for delete using (user_id = app_public.current_user_id());
-- Hole: a person may make themselves the owner of a team, or move their membership to another team.
create policy update_own on app_public.team_memberships for update using (user_id = app_public.current_user_id());
grant select, delete on app_public.team_memberships to visitor;
grant update on app_public.team_memberships to visitor;

alter table app_public.team_invitations enable row level security;
-- Hole: the condition compares a column with itself, so that the codes of all teams are read.
create policy select_mine on app_public.team_invitations for select using (
  exists (select from app_public.team_memberships m where m.team_id = team_id and m.user_id = app_public.current_user_id())
);
grant select on app_public.team_invitations to visitor;

alter table app_public.invoices enable row level security;
create policy select_mine on app_public.invoices for select using (team_id in (select app_hidden.my_team_ids()));
grant select on app_public.invoices to visitor;

-- For all, and changed by nobody: no policy, and only the right to read.
grant select on app_public.plans to visitor;
