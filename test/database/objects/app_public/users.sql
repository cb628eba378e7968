create table app_public.users (
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  external_identifier text collate "C",
  full_name text collate "C" not null,
  email text collate "C" not null,
  email_lowercase text collate "C" generated always as (app_hidden.lowercase(email)) stored not null,
  locale text collate "C" default 'en'::text not null,
  time_zone text collate "C" default 'UTC'::text not null,
  external_authentication_token_ciphertext bytea,
  external_authentication_token_hash bytea,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint users_pkey PRIMARY KEY (organization_id, id),
  constraint users_email_key UNIQUE (organization_id, email_lowercase) DEFERRABLE,
  constraint users_external_authentication_token_hash_key UNIQUE (organization_id, external_authentication_token_hash) DEFERRABLE,
  constraint users_external_identifier_key UNIQUE (organization_id, external_identifier),
  constraint users_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES app_hidden.organizations(id),
  constraint users_email_format CHECK (char_length(email) <= 254 AND email ~ '^[^@\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+@[^@\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+$'::text),
  constraint users_external_authentication_token_length CHECK (octet_length(external_authentication_token_ciphertext) <= 4096 AND octet_length(external_authentication_token_hash) = 32),
  constraint users_external_authentication_token_pair CHECK ((external_authentication_token_ciphertext IS NULL) = (external_authentication_token_hash IS NULL)),
  constraint users_external_identifier_length CHECK (char_length(external_identifier) >= 1 AND char_length(external_identifier) <= 200),
  constraint users_full_name_text CHECK (app_hidden.is_text(full_name)),
  constraint users_locale_format CHECK (char_length(locale) <= 200 AND locale ~* '^([a-z]{2,3}(-[a-z]{3}){0,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(-[0-9a-wy-z](-[a-z0-9]{2,8})+)*(-x(-[a-z0-9]{1,8})+)?|x(-[a-z0-9]{1,8})+)$'::text)
);
comment on table app_public.users is '@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName users|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All users of the organization.
@connection Unit.usersWithAccess|@where child.id = any (array(select user_id from app_hidden.unit_access where organization_id = parent.organization_id and unit_id = any (parent.ancestor_ids) and (valid_from is null or valid_from <= (select app_hidden.current_moment())) and (valid_until is null or valid_until > (select app_hidden.current_moment()))))|@description Everybody who may enter the unit, by a grant on it or on one above it.
A person of one organization.';
comment on column app_public.users.external_identifier is '@personalData
Identifier that the client system assigns to the user; unique in the organization, compared exactly.';
comment on column app_public.users.full_name is '@personalData
Full name.';
comment on column app_public.users.email is '@personalData
E-mail address; unique in the organization whatever its case.';
comment on column app_public.users.email_lowercase is '@personalData
@behavior -*
@filter emails anyCase
The e-mail address by which it is unique and looked up.';
comment on column app_public.users.locale is '@personalData
Locale: a BCP 47 language tag, such as `de` or `de-AT`.';
comment on column app_public.users.time_zone is '@personalData
@argument timeZone
Time zone: an IANA name, such as `Europe/Berlin`, or the city alone, as it was given.';
comment on column app_public.users.external_authentication_token_ciphertext is '@behavior -*
@partOf externalAuthenticationToken
External authentication token, AES-256-GCM under SECRET_KEY; only the service can read it.';
comment on column app_public.users.external_authentication_token_hash is '@behavior -*
@partOf externalAuthenticationToken
Keyed hash of the external authentication token, to look it up.';
comment on column app_public.users.created_at is 'When the user was added.';
comment on column app_public.users.updated_at is 'When the user was last changed.';

comment on constraint users_email_format on app_public.users is '@argument email
An e-mail address has one @, no space and at most 254 characters.';

comment on constraint users_email_key on app_public.users is '@argument email
Another user has this e-mail address.';

comment on constraint users_external_authentication_token_hash_key on app_public.users is '@argument externalAuthenticationToken
Another user has this external authentication token.';

comment on constraint users_external_identifier_key on app_public.users is '@argument externalIdentifier
Another user has this external identifier.';

comment on constraint users_external_identifier_length on app_public.users is '@argument externalIdentifier
An external identifier has 1 to 200 characters.';

comment on constraint users_full_name_text on app_public.users is '@argument fullName
A full name has 1 to 200 characters and no control characters.';

comment on constraint users_locale_format on app_public.users is '@argument locale
A locale is a BCP 47 language tag, such as "de" or "de-AT".';

alter table app_public.users enable row level security, force row level security;

CREATE INDEX users_email_idx ON app_public.users USING btree (organization_id, email, id);

CREATE INDEX users_external_identifier_order_idx ON app_public.users USING btree (organization_id, COALESCE(external_identifier, ''::text), id);

CREATE INDEX users_full_name_idx ON app_public.users USING btree (organization_id, full_name, id);

create policy all_graph_admin on app_public.users for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on app_public.users is 'Administration sees and changes every user.';

create policy delete_graph_app on app_public.users for delete to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy delete_graph_app on app_public.users is 'An application deletes users of its organization.';

create policy insert_graph_app on app_public.users for insert to graph_app
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy insert_graph_app on app_public.users is 'An application adds users to its own organization only.';

create policy select_graph_app on app_public.users for select to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_app on app_public.users is 'An application sees all users of its organization.';

create policy select_graph_basic on app_public.users for select to graph_basic
  using (false);
comment on policy select_graph_basic on app_public.users is 'A basic token reads no row.';

create policy select_graph_oauth on app_public.users for select to graph_oauth
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_oauth on app_public.users is 'The OAuth server finds the person who signs in, inside the application''s organization.';

create policy select_graph_user on app_public.users for select to graph_user
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)) AND id = (( SELECT app_hidden.current_user_id() AS current_user_id)));
comment on policy select_graph_user on app_public.users is 'A person sees the own row.';

create policy update_graph_app on app_public.users for update to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy update_graph_app on app_public.users is 'An application changes the users of its organization, and cannot move one elsewhere.';

CREATE TRIGGER audit_columns AFTER UPDATE OF external_authentication_token_ciphertext, external_authentication_token_hash, created_at, updated_at ON app_public.users FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();

CREATE TRIGGER audit_delete AFTER DELETE ON app_public.users REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ssdd');

CREATE CONSTRAINT TRIGGER audit_erase AFTER DELETE ON app_public.users DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit.erase_person();

CREATE TRIGGER audit_insert AFTER INSERT ON app_public.users REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ssdd');

CREATE TRIGGER audit_update AFTER UPDATE ON app_public.users FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_update('ssdd');

CREATE TRIGGER follow_columns AFTER UPDATE OF external_authentication_token_ciphertext ON app_public.users FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();

CREATE TRIGGER follow_delete AFTER DELETE ON app_public.users REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.users', 'DELETE', '', '{}', 'id');

CREATE TRIGGER follow_insert AFTER INSERT ON app_public.users REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.users', 'CREATE', '', '{}', 'id');

CREATE TRIGGER follow_update AFTER UPDATE ON app_public.users FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION feed.record_update('app_public.users', '', '1', '{}', 'id');

CREATE TRIGGER users_900_updated BEFORE UPDATE ON app_public.users FOR EACH ROW EXECUTE FUNCTION app_hidden.set_updated_at('external_authentication_token_ciphertext');

CREATE TRIGGER users_time_zone BEFORE INSERT OR UPDATE OF time_zone ON app_public.users FOR EACH ROW EXECUTE FUNCTION app_hidden.users_check_time_zone();

grant delete, insert, select, update on app_public.users to graph_admin;
grant delete, insert (organization_id, id, external_identifier, full_name, email, locale, time_zone, external_authentication_token_ciphertext, external_authentication_token_hash), select, update (external_identifier, full_name, email, locale, time_zone, external_authentication_token_ciphertext, external_authentication_token_hash) on app_public.users to graph_app;
grant select (organization_id, id, external_identifier, full_name, email, email_lowercase, locale, time_zone, external_authentication_token_ciphertext, created_at, updated_at) on app_public.users to graph_basic;
grant select (organization_id, id, full_name, email, email_lowercase, external_authentication_token_hash) on app_public.users to graph_oauth;
grant select (organization_id, id, external_identifier, full_name, email, email_lowercase, locale, time_zone, external_authentication_token_ciphertext, created_at, updated_at) on app_public.users to graph_user;
