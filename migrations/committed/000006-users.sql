--! Previous: sha1:000beddf2cae0ef66a4744fb4df989d6aec6194a
--! Hash: sha1:28b975932780ff2425a546420008fca3105f0625
--! Message: users

-- A user is a person of one organization. An application sees and changes all users of its organization; a person sees the own row.
--
-- The database never has in clear what signs a person in. The external authentication token is here as a ciphertext, which only the
-- service can read, and as a keyed hash to look it up. The password is in oauth.credentials.
--
-- The keys say what is unique in an organization, the indexes serve the orders of the graph. The comment on a constraint is what a client
-- reads when it breaks the constraint. Lines with @ in a comment are smart tags: they shape the GraphQL schema
-- (https://postgraphile.org/postgraphile/5/smart-tags).

create table app_public.users (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  external_identifier text collate "C",
  full_name text collate "C" not null,
  email text collate "C" not null,
  email_lowercase text collate "C" not null generated always as (app_hidden.lowercase(email)) stored,
  locale text collate "C" not null default 'en',
  time_zone text collate "C" not null default 'UTC',
  external_authentication_token_ciphertext bytea,
  external_authentication_token_hash bytea,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint users_pkey primary key (organization_id, id),
  constraint users_organization_id_fkey foreign key (organization_id) references app_hidden.organizations,
  -- Over a column and not an expression: under row-level security only leakproof operators reach an index, and no function of case is one.
  -- Asked at the end of a statement, as that of the token: one that writes many users may exchange theirs.
  constraint users_email_key unique (organization_id, email_lowercase) deferrable,
  constraint users_external_identifier_key unique (organization_id, external_identifier),
  constraint users_external_authentication_token_hash_key unique (organization_id, external_authentication_token_hash) deferrable,
  constraint users_external_identifier_length check (char_length(external_identifier) between 1 and 200),
  constraint users_full_name_text check (app_hidden.is_text(full_name)),
  constraint users_email_format check (char_length(email) <= 254 and email ~ '^[^@\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+@[^@\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+$'),
  constraint users_locale_format check (
    char_length(locale) <= 200
    and locale ~* '^([a-z]{2,3}(-[a-z]{3}){0,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(-[0-9a-wy-z](-[a-z0-9]{2,8})+)*(-x(-[a-z0-9]{1,8})+)?|x(-[a-z0-9]{1,8})+)$'),
  constraint users_external_authentication_token_pair check (
    (external_authentication_token_ciphertext is null) = (external_authentication_token_hash is null)),
  constraint users_external_authentication_token_length check (
    octet_length(external_authentication_token_ciphertext) <= 4096 and octet_length(external_authentication_token_hash) = 32)
);
-- Orders that clients ask for page by page; each ends in the key, so that it is total. The key of the e-mail addresses serves theirs.
create index users_full_name_idx on app_public.users (organization_id, full_name, id);
-- For users by external identifier: the order takes a missing one for the empty text.
create index users_external_identifier_order_idx
  on app_public.users (organization_id, (coalesce(external_identifier, '')), id);
-- Absent on purpose: a foreign key of time_zone. A trigger checks it and names the nearest: the next file.

comment on table app_public.users is
  E'@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName users|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All users of the organization.\n'
  '@connection Unit.usersWithAccess|@where child.id = any (array(select user_id from app_hidden.unit_access where organization_id = parent.organization_id and unit_id = any (parent.ancestor_ids) and (valid_from is null or valid_from <= (select app_hidden.current_moment())) and (valid_until is null or valid_until > (select app_hidden.current_moment()))))|@description Everybody who may enter the unit, by a grant on it or on one above it.\n'
  'A person of one organization.';
comment on column app_public.users.external_identifier is E'@personalData\nIdentifier that the client system assigns to the user; unique in the organization, compared exactly.';
comment on column app_public.users.full_name is E'@personalData\nFull name.';
comment on column app_public.users.email is E'@personalData\nE-mail address; unique in the organization whatever its case.';
comment on column app_public.users.email_lowercase is E'@personalData\n@name email\n@behavior -* +attribute:orderBy\n@filter emails anyCase\nThe e-mail address by which it is unique, looked up and ordered.';
comment on column app_public.users.locale is E'@personalData\nLocale: a BCP 47 language tag, such as `de` or `de-AT`.';
comment on column app_public.users.time_zone is
  E'@personalData\n@argument timeZone\nTime zone: an IANA name, such as `Europe/Berlin`, or the city alone, as it was given.';
comment on column app_public.users.external_authentication_token_ciphertext is E'@behavior -*\n@partOf externalAuthenticationToken\nExternal authentication token, AES-256-GCM under SECRET_KEY; only the service can read it.';
comment on column app_public.users.external_authentication_token_hash is E'@behavior -*\n@partOf externalAuthenticationToken\nKeyed hash of the external authentication token, to look it up.';
comment on column app_public.users.created_at is 'When the user was added.';
comment on column app_public.users.updated_at is 'When the user was last changed.';
comment on constraint users_external_identifier_key on app_public.users is E'@argument externalIdentifier\nAnother user has this external identifier.';
comment on constraint users_email_key on app_public.users is E'@argument email\nAnother user has this e-mail address.';
comment on constraint users_external_authentication_token_hash_key on app_public.users is E'@argument externalAuthenticationToken\nAnother user has this external authentication token.';
comment on constraint users_external_identifier_length on app_public.users is E'@argument externalIdentifier\nAn external identifier has 1 to 200 characters.';
comment on constraint users_full_name_text on app_public.users is E'@argument fullName\nA full name has 1 to 200 characters and no control characters.';
comment on constraint users_email_format on app_public.users is E'@argument email\nAn e-mail address has one @, no space and at most 254 characters.';
comment on constraint users_locale_format on app_public.users is E'@argument locale\nA locale is a BCP 47 language tag, such as "de" or "de-AT".';

alter table app_public.users enable row level security, force row level security;
create policy all_graph_admin on app_public.users for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_public.users is 'Administration sees and changes every user.';
create policy select_graph_app on app_public.users for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on app_public.users is 'An application sees all users of its organization.';
create policy insert_graph_app on app_public.users for insert to graph_app
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy insert_graph_app on app_public.users is 'An application adds users to its own organization only.';
create policy update_graph_app on app_public.users for update to graph_app
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy update_graph_app on app_public.users is 'An application changes the users of its organization, and cannot move one elsewhere.';
create policy delete_graph_app on app_public.users for delete to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy delete_graph_app on app_public.users is 'An application deletes users of its organization.';
create policy select_graph_user on app_public.users for select to graph_user
  using (organization_id = (select app_hidden.current_organization_id()) and id = (select app_hidden.current_user_id()));
comment on policy select_graph_user on app_public.users is 'A person sees the own row.';
create policy select_graph_basic on app_public.users for select to graph_basic using (false);
comment on policy select_graph_basic on app_public.users is 'A basic token reads no row.';
create policy select_graph_oauth on app_public.users for select to graph_oauth
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_oauth on app_public.users is 'The OAuth server finds the person who signs in, inside the application''s organization.';

grant select, insert, update, delete on app_public.users to graph_admin;
grant select, delete on app_public.users to graph_app;
grant insert (
  organization_id, id, external_identifier, full_name, email, locale, time_zone,
  external_authentication_token_ciphertext, external_authentication_token_hash
) on app_public.users to graph_app;
grant update (
  external_identifier, full_name, email, locale, time_zone,
  external_authentication_token_ciphertext, external_authentication_token_hash
) on app_public.users to graph_app;
-- The ciphertext is granted so that asking for it is a refusal of one field, not of the whole statement; the hash is nobody's business.
grant select (
  organization_id, id, external_identifier, full_name, email, locale, time_zone, external_authentication_token_ciphertext, created_at, updated_at
) on app_public.users to graph_user, graph_basic;
-- `usersWithAccess(emails:)` compares this column, which is made of one that these roles may read. They see no other rows by it.
grant select (email_lowercase) on app_public.users to graph_user, graph_basic;
grant select (organization_id, id, full_name, email, email_lowercase, external_authentication_token_hash) on app_public.users to graph_oauth;

-- The same token is sealed to another ciphertext each time; the hash tells whether it is another token.
create trigger users_900_updated before update on app_public.users
  for each row execute function app_hidden.set_updated_at('external_authentication_token_ciphertext');
