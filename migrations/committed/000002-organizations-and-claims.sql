--! Previous: sha1:a5e4dfde0f5a479eae2a0f25bef2d7d505f2d635
--! Hash: sha1:fb988c5ea820d368865120548e227f11a7760e33
--! Message: organizations and claims

-- An organization owns applications, users, units and cards; nothing crosses from one to another.
-- What a request may do follows from its claims: settings that live as long as its transaction. A claim that is absent is ''.

drop table if exists app_hidden.time_zones;
drop table if exists app_hidden.organizations;
drop function if exists app_hidden.is_text(text);
drop function if exists app_hidden.trimmed(text);
drop function if exists app_hidden.uuid_v7();
drop function if exists app_hidden.current_user_id();
drop function if exists app_hidden.current_application_id();
drop function if exists app_hidden.current_organization_id();

-- Claims. Policies call them as `(select app_hidden.current_organization_id())`: once per query, not once per row.
-- They return null for '', and null equals nothing: no claim, no row.

create function app_hidden.current_organization_id() returns uuid
  language sql stable parallel safe
  as $$ select nullif(current_setting('graph.organization_id', true), '')::uuid $$;

create function app_hidden.current_application_id() returns uuid
  language sql stable parallel safe
  as $$ select nullif(current_setting('graph.application_id', true), '')::uuid $$;

create function app_hidden.current_user_id() returns uuid
  language sql stable parallel safe
  as $$ select nullif(current_setting('graph.user_id', true), '')::uuid $$;

comment on function app_hidden.current_organization_id() is 'The organization of the token that this transaction serves; null without one.';
comment on function app_hidden.current_application_id() is 'The application that the token was issued to; null without one.';
comment on function app_hidden.current_user_id() is 'The person that the token was issued for; null for an application''s own token.';

grant execute on function
  app_hidden.current_organization_id(), app_hidden.current_application_id(), app_hidden.current_user_id()
  to graph_app, graph_user, graph_basic, graph_oauth, graph_admin, graph_helper;

-- Keys are time-ordered, so that the default order is the order of creation and inserts stay at one end of each index.

create function app_hidden.uuid_v7() returns uuid
  language sql volatile parallel safe
  as $$
    -- 48 bits of milliseconds, the version and 12 bits of what is below a millisecond, the variant and 62 random bits.
    select encode(
      substring(int8send(microseconds / 1000) from 3)
      || int2send((x'7000'::int + microseconds % 1000 * 4096 / 1000)::int2)
      || substring(uuid_send(gen_random_uuid()) from 9),
      'hex')::uuid
    from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as microseconds) as now
  $$;
comment on function app_hidden.uuid_v7() is 'A new UUID version 7 (RFC 9562); PostgreSQL has its own from 18 on.';
grant execute on function app_hidden.uuid_v7() to graph_app, graph_oauth, graph_admin;

-- Texts that people read: trimmed, not empty, at most 200 characters, no control characters.

create function app_hidden.trimmed(value text) returns text
  language sql immutable parallel safe
  as $$
    select regexp_replace(value,
      '^[\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+|[\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+$',
      '', 'g')
  $$;
comment on function app_hidden.trimmed(text) is 'The text without the white space around it (the characters that String.prototype.trim removes, and U+0085).';

create function app_hidden.is_text(value text) returns boolean
  language sql immutable parallel safe
  as $$
    select char_length(value) between 1 and 200
       and value !~ '[\u0001-\u001f\u007f-\u009f]'
       and value = app_hidden.trimmed(value)
  $$;
comment on function app_hidden.is_text(text) is 'Whether a text is trimmed, not empty, at most 200 characters long and free of control characters.';

grant execute on function app_hidden.trimmed(text), app_hidden.is_text(text) to graph_app, graph_admin;

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

-- A time zone is an IANA name or the city alone. The names are PostgreSQL's own, as of this migration.

create table app_hidden.time_zones (
  name text not null,
  constraint time_zones_pkey primary key (name)
);
comment on table app_hidden.time_zones is 'Accepted time zones: IANA names (Europe/Berlin) and their cities alone (Berlin, New York).';

alter table app_hidden.time_zones enable row level security, force row level security;
create policy all_graph_admin on app_hidden.time_zones for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_hidden.time_zones is 'Administration keeps the list; foreign keys read it for everybody else.';
grant select, insert, update, delete on app_hidden.time_zones to graph_admin;

insert into app_hidden.time_zones (name)
select name from pg_timezone_names where name !~ '^(posix|right)/' and name not in ('posixrules', 'localtime', 'Factory')
union
select replace(regexp_replace(name, '^.*/', ''), '_', ' ')
from pg_timezone_names
where name ~ '^(Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)/';
