-- A chat, as a tutorial on Supabase builds one: profiles, rooms with members, messages, reactions, and a view for the sidebar.
-- Holes on purpose are marked `Hole:`.
create table public.profiles (
  id uuid primary key references auth.users on delete cascade,
  handle text not null unique check (char_length(handle) between 3 and 30),
  bio text,
  is_admin boolean not null default false
);
alter table public.profiles enable row level security;
create policy "People see each other" on public.profiles for select to authenticated using (true);
-- Hole: nothing keeps `is_admin` out of the update.
create policy "People edit themselves" on public.profiles for update to authenticated using (auth.uid() = id);

-- A row for each who signs up.
create function public.welcome() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  insert into public.profiles (id, handle) values (new.id, 'user-' || left(new.id::text, 8));
  return new;
end
$$;
create trigger welcome after insert on auth.users for each row execute function public.welcome();

create type public.room_kind as enum ('private', 'public');
create table public.rooms (
  id bigint generated always as identity primary key,
  kind public.room_kind not null default 'private',
  title text not null,
  created_by uuid not null references public.profiles
);
create table public.room_members (
  room_id bigint not null references public.rooms on delete cascade,
  profile_id uuid not null references public.profiles on delete cascade,
  role text not null default 'member' check (role in ('member', 'moderator')),
  primary key (room_id, profile_id)
);
create table public.messages (
  id uuid primary key default gen_random_uuid(),
  room_id bigint not null references public.rooms on delete cascade,
  author_id uuid not null references public.profiles,
  body text not null check (char_length(body) <= 2000),
  sent_at timestamptz not null default now()
);
create table public.reactions (
  message_id uuid not null references public.messages on delete cascade,
  profile_id uuid not null references public.profiles,
  emoji text not null,
  primary key (message_id, profile_id, emoji)
);
create table public.emojis (code text primary key, meaning text not null);

-- As its owner, so that the policy of `room_members` may ask `room_members`.
create function public.is_in_room(room bigint) returns boolean language sql stable security definer set search_path = '' as $$
  select exists (select from public.room_members m where m.room_id = room and m.profile_id = (select auth.uid()))
$$;

alter table public.rooms enable row level security;
create policy "Members see their rooms" on public.rooms for select to authenticated
  using (public.is_in_room(id) or created_by = (select auth.uid()) or kind = 'public');
create policy "People open rooms" on public.rooms for insert to authenticated with check (created_by = (select auth.uid()));
create policy "Owners change rooms" on public.rooms for update to authenticated
  using (created_by = (select auth.uid())) with check (created_by = (select auth.uid()));

alter table public.room_members enable row level security;
create policy "Members see members" on public.room_members for select to authenticated using (public.is_in_room(room_id));
-- Hole: whoever knows a room's number joins it.
create policy "People join" on public.room_members for insert to authenticated with check (profile_id = (select auth.uid()));
create policy "People leave" on public.room_members for delete to authenticated using (profile_id = (select auth.uid()));

alter table public.messages enable row level security;
create policy "Members read" on public.messages for select to authenticated using (public.is_in_room(room_id));
-- Hole: the author is not compared with the client.
create policy "Members write" on public.messages for insert to authenticated with check (public.is_in_room(room_id));
create policy "Authors edit" on public.messages for update to authenticated
  using (author_id = (select auth.uid())) with check (author_id = (select auth.uid()) and public.is_in_room(room_id));
create policy "Authors delete" on public.messages for delete to authenticated using (author_id = (select auth.uid()));

alter table public.reactions enable row level security;
create policy "People react" on public.reactions for all to authenticated
  using (profile_id = (select auth.uid()))
  with check (profile_id = (select auth.uid()) and exists (select from public.messages m where m.id = message_id));

-- Hole: row-level security was forgotten, so that everybody changes what an emoji means.

-- Hole: the view reads as its owner, and shows the rooms of all.
create view public.sidebar as
  select r.id, r.title, r.created_by, (select max(m.sent_at) from public.messages m where m.room_id = r.id) as last_at
  from public.rooms r;
