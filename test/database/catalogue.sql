-- `npm run schema:update` writes this file. After "--" is a digest of the body, if it is not here, and of the comments.

create schema app_hidden; -- 5703998e41f7
grant usage on schema app_hidden to graph_admin;
grant usage on schema app_hidden to graph_app;
grant usage on schema app_hidden to graph_basic;
grant usage on schema app_hidden to graph_helper;
grant usage on schema app_hidden to graph_oauth;
grant usage on schema app_hidden to graph_purger;
grant usage on schema app_hidden to graph_user;
grant usage on schema app_hidden to graph_worker;
-- collation app_hidden.unicode -- 952726d58b35

create type app_hidden.access_question as ( -- f1861d7b2f13
  unit_id uuid,
  unit_external_identifier text,
  user_id uuid,
  user_external_identifier text,
  card_id uuid,
  card_external_identifier text,
  nfc_identifier text,
  beacon app_public.beacon_input,
  at timestamp with time zone
);

CREATE OR REPLACE FUNCTION app_hidden.arrived_at() -- 8f6cc5b0576c
alter function app_hidden.arrived_at() owner to graph_helper;
grant execute on function app_hidden.arrived_at() to graph_admin;
grant execute on function app_hidden.arrived_at() to graph_app;
grant execute on function app_hidden.arrived_at() to graph_worker;

CREATE OR REPLACE FUNCTION app_hidden.broken_checks(rows anyarray) -- 97c3f9c6667d
grant execute on function app_hidden.broken_checks(anyarray) to graph_admin;
grant execute on function app_hidden.broken_checks(anyarray) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.card_assignments_place() -- c3d93b971e78

CREATE OR REPLACE FUNCTION app_hidden.card_refusal(rule oid) -- 35f810511433
grant execute on function app_hidden.card_refusal(oid) to graph_admin;
grant execute on function app_hidden.card_refusal(oid) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.cards_keep_type() -- 254a92b343f9

CREATE OR REPLACE FUNCTION app_hidden.claim_idempotency_key(key_hash bytea) -- ab8e951bb8e5
grant execute on function app_hidden.claim_idempotency_key(bytea) to graph_app;
grant execute on function app_hidden.claim_idempotency_key(bytea) to graph_basic;
grant execute on function app_hidden.claim_idempotency_key(bytea) to graph_user;

CREATE OR REPLACE FUNCTION app_hidden.count_idempotency_key() -- 3866a31d3be1
alter function app_hidden.count_idempotency_key() owner to graph_helper;

CREATE OR REPLACE FUNCTION app_hidden.count_row() -- 9ffae6beda88
grant execute on function app_hidden.count_row() to graph_app;
grant execute on function app_hidden.count_row() to graph_basic;
grant execute on function app_hidden.count_row() to graph_user;

CREATE OR REPLACE FUNCTION app_hidden.current_application_id() -- 1eb1a3f1d309
grant execute on function app_hidden.current_application_id() to graph_admin;
grant execute on function app_hidden.current_application_id() to graph_app;
grant execute on function app_hidden.current_application_id() to graph_basic;
grant execute on function app_hidden.current_application_id() to graph_helper;
grant execute on function app_hidden.current_application_id() to graph_oauth;
grant execute on function app_hidden.current_application_id() to graph_user;

CREATE OR REPLACE FUNCTION app_hidden.current_moment() -- 81040cdc643e
grant execute on function app_hidden.current_moment() to graph_admin;
grant execute on function app_hidden.current_moment() to graph_app;
grant execute on function app_hidden.current_moment() to graph_basic;
grant execute on function app_hidden.current_moment() to graph_user;

CREATE OR REPLACE FUNCTION app_hidden.current_organization_id() -- c9bb9ff2399d
grant execute on function app_hidden.current_organization_id() to graph_admin;
grant execute on function app_hidden.current_organization_id() to graph_app;
grant execute on function app_hidden.current_organization_id() to graph_basic;
grant execute on function app_hidden.current_organization_id() to graph_helper;
grant execute on function app_hidden.current_organization_id() to graph_oauth;
grant execute on function app_hidden.current_organization_id() to graph_user;
grant execute on function app_hidden.current_organization_id() to graph_worker;

CREATE OR REPLACE FUNCTION app_hidden.current_user_id() -- 7c701aad24e8
grant execute on function app_hidden.current_user_id() to graph_admin;
grant execute on function app_hidden.current_user_id() to graph_app;
grant execute on function app_hidden.current_user_id() to graph_basic;
grant execute on function app_hidden.current_user_id() to graph_helper;
grant execute on function app_hidden.current_user_id() to graph_oauth;
grant execute on function app_hidden.current_user_id() to graph_user;

CREATE OR REPLACE FUNCTION app_hidden.decide_access(questions app_hidden.access_question[]) -- e4172dddd8df
grant execute on function app_hidden.decide_access(app_hidden.access_question[]) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.depths_below(above integer[]) -- 93d3ebb96bec
grant execute on function app_hidden.depths_below(integer[]) to graph_admin;
grant execute on function app_hidden.depths_below(integer[]) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.find_card(id uuid, external_identifier text) -- 8b83660703b8
grant execute on function app_hidden.find_card(uuid,text) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.find_unit(id uuid, external_identifier text) -- 914d4138c6b6
grant execute on function app_hidden.find_unit(uuid,text) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.find_user(id uuid, external_identifier text) -- d7a1f941b5f7
grant execute on function app_hidden.find_user(uuid,text) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.first_accessible_unit_ids(user_id uuid, count integer, after uuid) -- 3ac7dcde256a
grant execute on function app_hidden.first_accessible_unit_ids(uuid,integer,uuid) to graph_app;
grant execute on function app_hidden.first_accessible_unit_ids(uuid,integer,uuid) to graph_basic;
grant execute on function app_hidden.first_accessible_unit_ids(uuid,integer,uuid) to graph_user;

CREATE OR REPLACE FUNCTION app_hidden.free_token_hash(user_id uuid, token jsonb) -- 93302987346e
grant execute on function app_hidden.free_token_hash(uuid,jsonb) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.granted_unit_ids() -- 24f4946661fd
grant execute on function app_hidden.granted_unit_ids() to graph_user;

CREATE OR REPLACE FUNCTION app_hidden.has_row_trigger(parent oid, name name) -- 6e3dfae4c4dc
grant execute on function app_hidden.has_row_trigger(oid,name) to graph_helper;

CREATE OR REPLACE FUNCTION app_hidden.has_webhook_charge() -- f70a0b62bde7
grant execute on function app_hidden.has_webhook_charge() to graph_admin;
grant execute on function app_hidden.has_webhook_charge() to graph_worker;

create table app_hidden.idempotency_keys ( -- 678855dec166
  organization_id uuid not null,
  application_id uuid not null,
  principal_id uuid not null,
  role text not null,
  key_hash bytea not null,
  answer_ciphertext bytea not null,
  expires_at timestamp with time zone default statement_timestamp() + '24:00:00'::interval not null
)
with (autovacuum_vacuum_scale_factor=0.02);
alter table app_hidden.idempotency_keys enable row level security, force row level security;
grant delete, insert, select, update on app_hidden.idempotency_keys to graph_admin;
grant delete, insert, select on app_hidden.idempotency_keys to graph_app;
grant delete, insert, select on app_hidden.idempotency_keys to graph_basic;
grant delete, select (organization_id, application_id, principal_id, role, key_hash, expires_at) on app_hidden.idempotency_keys to graph_purger;
grant delete, insert, select on app_hidden.idempotency_keys to graph_user;
alter table app_hidden.idempotency_keys add constraint idempotency_keys_answer_ciphertext_length CHECK (octet_length(answer_ciphertext) >= 28);
alter table app_hidden.idempotency_keys add constraint idempotency_keys_application_id_fkey FOREIGN KEY (organization_id, application_id) REFERENCES oauth.applications(organization_id, id) ON DELETE CASCADE;
alter table app_hidden.idempotency_keys add constraint idempotency_keys_key_hash_length CHECK (octet_length(key_hash) = 32);
alter table app_hidden.idempotency_keys add constraint idempotency_keys_pkey PRIMARY KEY (organization_id, application_id, principal_id, role, key_hash);
alter table app_hidden.idempotency_keys add constraint idempotency_keys_role_known CHECK (role = ANY (ARRAY['graph_app'::text, 'graph_user'::text, 'graph_basic'::text]));
CREATE INDEX idempotency_keys_expires_at_idx ON app_hidden.idempotency_keys USING btree (expires_at);
create policy all_graph_admin on app_hidden.idempotency_keys for all to graph_admin -- 5ed78ce4234f
create policy all_graph_app on app_hidden.idempotency_keys for all to graph_app -- 9d57e4e42680
create policy all_graph_basic on app_hidden.idempotency_keys for all to graph_basic -- 82c829a5bbbb
create policy all_graph_user on app_hidden.idempotency_keys for all to graph_user -- 0bd808ccf8e6
create policy delete_graph_purger on app_hidden.idempotency_keys for delete to graph_purger -- f1a3a63351bc
create policy select_graph_purger on app_hidden.idempotency_keys for select to graph_purger -- 97ff987c7258
CREATE TRIGGER count_idempotency_key AFTER INSERT ON app_hidden.idempotency_keys FOR EACH ROW EXECUTE FUNCTION app_hidden.count_idempotency_key();

create table app_hidden.idempotency_usage ( -- ba08b50e5c3a
  organization_id uuid not null,
  expires_at timestamp with time zone not null,
  slot bigint not null,
  keys bigint not null,
  bytes bigint not null
)
with (fillfactor=50);
alter table app_hidden.idempotency_usage enable row level security, force row level security;
grant delete, insert, select, update on app_hidden.idempotency_usage to graph_admin;
grant select on app_hidden.idempotency_usage to graph_app;
grant select on app_hidden.idempotency_usage to graph_basic;
grant insert, select, update (keys, bytes) on app_hidden.idempotency_usage to graph_helper;
grant delete, select (organization_id, expires_at) on app_hidden.idempotency_usage to graph_purger;
grant select on app_hidden.idempotency_usage to graph_user;
alter table app_hidden.idempotency_usage add constraint idempotency_usage_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES app_hidden.organizations(id) ON DELETE CASCADE;
alter table app_hidden.idempotency_usage add constraint idempotency_usage_pkey PRIMARY KEY (organization_id, expires_at, slot);
CREATE INDEX idempotency_usage_expires_at_idx ON app_hidden.idempotency_usage USING btree (expires_at);
create policy all_graph_admin on app_hidden.idempotency_usage for all to graph_admin -- d754565a9eab
create policy delete_graph_purger on app_hidden.idempotency_usage for delete to graph_purger -- 557d259b78ad
create policy insert_graph_helper on app_hidden.idempotency_usage for insert to graph_helper -- ae5fcfa016c5
create policy select_graph_app on app_hidden.idempotency_usage for select to graph_app -- e94164b33e71
create policy select_graph_basic on app_hidden.idempotency_usage for select to graph_basic -- f1271812a485
create policy select_graph_helper on app_hidden.idempotency_usage for select to graph_helper -- 8c5e4dde7ed2
create policy select_graph_purger on app_hidden.idempotency_usage for select to graph_purger -- c5fec3c77a9d
create policy select_graph_user on app_hidden.idempotency_usage for select to graph_user -- 4e682e030b85
create policy update_graph_helper on app_hidden.idempotency_usage for update to graph_helper -- 39071ce81e00

CREATE OR REPLACE FUNCTION app_hidden.identity_of(card app_public.cards) -- 09e88b96dedd
grant execute on function app_hidden.identity_of(app_public.cards) to graph_admin;
grant execute on function app_hidden.identity_of(app_public.cards) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.is_backfill(relation oid) -- f4a5c88c1ecc
grant execute on function app_hidden.is_backfill(oid) to graph_helper;

CREATE OR REPLACE FUNCTION app_hidden.is_served(organization_id uuid) -- edcd91d575ca
alter function app_hidden.is_served(uuid) owner to graph_helper;
grant execute on function app_hidden.is_served(uuid) to graph_admin;
grant execute on function app_hidden.is_served(uuid) to graph_oauth;
grant execute on function app_hidden.is_served(uuid) to graph_worker;

CREATE OR REPLACE FUNCTION app_hidden.is_text(value text) -- 5ff2b66799b8
grant execute on function app_hidden.is_text(text) to graph_admin;
grant execute on function app_hidden.is_text(text) to graph_app;
grant execute on function app_hidden.is_text(text) to graph_helper;

CREATE OR REPLACE FUNCTION app_hidden.is_time_zone(name text) -- 4c2962ae9fff
grant execute on function app_hidden.is_time_zone(text) to graph_admin;
grant execute on function app_hidden.is_time_zone(text) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.judge_cards(given jsonb[]) -- ba645b9eae9e
grant execute on function app_hidden.judge_cards(jsonb[]) to graph_admin;
grant execute on function app_hidden.judge_cards(jsonb[]) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.judge_units(given jsonb[]) -- ef0b7fd97f21
grant execute on function app_hidden.judge_units(jsonb[]) to graph_admin;
grant execute on function app_hidden.judge_units(jsonb[]) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.judge_users(given jsonb[], source text) -- 0f41f8e6816a
grant execute on function app_hidden.judge_users(jsonb[],text) to graph_admin;
grant execute on function app_hidden.judge_users(jsonb[],text) to graph_app;

create type app_hidden.judged_card as ( -- 0b9d961717e5
  place integer,
  external_identifier text,
  changes jsonb,
  before app_public.cards,
  after app_public.cards,
  holder_ids uuid[],
  outcome app_public.sync_outcome,
  error app_public.sync_error
);

create type app_hidden.judged_unit as ( -- a9365a0ab53c
  place integer,
  external_identifier text,
  parent text,
  changes jsonb,
  before app_public.units,
  after app_public.units,
  depth integer,
  outcome app_public.sync_outcome,
  error app_public.sync_error
);

create type app_hidden.judged_user as ( -- e68697a1c520
  place integer,
  external_identifier text,
  changes jsonb,
  before app_public.users,
  after app_public.users,
  unit_ids uuid[],
  outcome app_public.sync_outcome,
  error app_public.sync_error
);

CREATE OR REPLACE FUNCTION app_hidden.lock_organization(shared boolean DEFAULT false) -- c738ea9f893f
grant execute on function app_hidden.lock_organization(boolean) to graph_admin;
grant execute on function app_hidden.lock_organization(boolean) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.lock_units(shared boolean DEFAULT false) -- 02396fe89521
grant execute on function app_hidden.lock_units(boolean) to graph_admin;
grant execute on function app_hidden.lock_units(boolean) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.lock_user(id uuid, external_identifier text) -- e9c068857b34
grant execute on function app_hidden.lock_user(uuid,text) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.lock_value(rule name, value text, old_value text DEFAULT NULL::text) -- ddec37605505
grant execute on function app_hidden.lock_value(name,text,text) to graph_admin;
grant execute on function app_hidden.lock_value(name,text,text) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.lowercase(value text) -- a03048834881
grant execute on function app_hidden.lowercase(text) to graph_admin;
grant execute on function app_hidden.lowercase(text) to graph_app;
grant execute on function app_hidden.lowercase(text) to graph_basic;
grant execute on function app_hidden.lowercase(text) to graph_helper;
grant execute on function app_hidden.lowercase(text) to graph_oauth;
grant execute on function app_hidden.lowercase(text) to graph_user;

CREATE OR REPLACE FUNCTION app_hidden.move_lock(organization_id uuid) -- dcb8ee87b6c3
grant execute on function app_hidden.move_lock(uuid) to graph_admin;
grant execute on function app_hidden.move_lock(uuid) to graph_helper;

CREATE OR REPLACE FUNCTION app_hidden.moving_organization_ids() -- 06d3d3a8999d
grant execute on function app_hidden.moving_organization_ids() to graph_purger;

CREATE OR REPLACE FUNCTION app_hidden.nearest_time_zones(names text[]) -- 6cce8c1f9d17
grant execute on function app_hidden.nearest_time_zones(text[]) to graph_admin;
grant execute on function app_hidden.nearest_time_zones(text[]) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.note_parent() -- 9253d40c76e2

CREATE OR REPLACE FUNCTION app_hidden.note_secret_key(INOUT salt bytea, INOUT checksum bytea) -- 02a1ca8afb01
alter function app_hidden.note_secret_key(bytea,bytea) owner to graph_helper;
grant execute on function app_hidden.note_secret_key(bytea,bytea) to graph_admin;
grant execute on function app_hidden.note_secret_key(bytea,bytea) to graph_oauth;

CREATE OR REPLACE FUNCTION app_hidden.one_time_zone(time_zone text, timezone text) -- 712b5af2a643
grant execute on function app_hidden.one_time_zone(text,text) to graph_app;

create table app_hidden.organization_moves ( -- ecb17f21a5d6
  organization_id uuid not null,
  move_id uuid not null,
  state text not null,
  peer text not null,
  arrived_at timestamp with time zone
);
alter table app_hidden.organization_moves enable row level security, force row level security;
grant delete, insert, select, update on app_hidden.organization_moves to graph_admin;
grant select on app_hidden.organization_moves to graph_helper;
grant select (organization_id, state) on app_hidden.organization_moves to graph_purger;
alter table app_hidden.organization_moves add constraint organization_moves_arrived_whole CHECK (state <> 'arrived'::text OR arrived_at IS NOT NULL);
alter table app_hidden.organization_moves add constraint organization_moves_peer_length CHECK (length(peer) >= 1 AND length(peer) <= 200);
alter table app_hidden.organization_moves add constraint organization_moves_pkey PRIMARY KEY (organization_id);
alter table app_hidden.organization_moves add constraint organization_moves_state_known CHECK (state = ANY (ARRAY['copying'::text, 'moved'::text, 'arriving'::text, 'arrived'::text]));
create policy all_graph_admin on app_hidden.organization_moves for all to graph_admin -- 8ebb71da2956
create policy select_graph_helper on app_hidden.organization_moves for select to graph_helper -- 999fcfa1fab4
create policy select_graph_purger on app_hidden.organization_moves for select to graph_purger -- ae7da7574163

create table app_hidden.organizations ( -- 692128f93df0
  id uuid default app_hidden.uuid_v7() not null,
  name text not null
);
alter table app_hidden.organizations enable row level security, force row level security;
grant delete, insert, select, update on app_hidden.organizations to graph_admin;
alter table app_hidden.organizations add constraint organizations_name_key UNIQUE (name);
alter table app_hidden.organizations add constraint organizations_name_text CHECK (app_hidden.is_text(name));
alter table app_hidden.organizations add constraint organizations_pkey PRIMARY KEY (id);
create policy all_graph_admin on app_hidden.organizations for all to graph_admin -- 43ac5c585121
CREATE TRIGGER audit_delete AFTER DELETE ON app_hidden.organizations REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('', '-521095495046197918', '({},{},,{id},t)');
CREATE TRIGGER audit_insert AFTER INSERT ON app_hidden.organizations REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('', '-521095495046197918', '({},{},,{id},t)');
CREATE TRIGGER audit_update AFTER UPDATE ON app_hidden.organizations FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_row('', '-521095495046197918', '({},{},,{id},t)');

CREATE OR REPLACE FUNCTION app_hidden.refusal_of(rule oid) -- a3cf86c26481
grant execute on function app_hidden.refusal_of(oid) to graph_admin;
grant execute on function app_hidden.refusal_of(oid) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.refuse_cards(judged app_hidden.judged_card[]) -- f3d90aa6d7b4
grant execute on function app_hidden.refuse_cards(app_hidden.judged_card[]) to graph_admin;
grant execute on function app_hidden.refuse_cards(app_hidden.judged_card[]) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.refuse_users(judged app_hidden.judged_user[]) -- 4ac8a33e74dc
grant execute on function app_hidden.refuse_users(app_hidden.judged_user[]) to graph_admin;
grant execute on function app_hidden.refuse_users(app_hidden.judged_user[]) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.require_access_token(token_hash bytea) -- a1ae2d70ba06
alter function app_hidden.require_access_token(bytea) owner to graph_helper;
grant execute on function app_hidden.require_access_token(bytea) to graph_app;
grant execute on function app_hidden.require_access_token(bytea) to graph_basic;
grant execute on function app_hidden.require_access_token(bytea) to graph_user;

CREATE OR REPLACE FUNCTION app_hidden.require_one(argument text, one boolean, other boolean) -- eb112a5b9649
grant execute on function app_hidden.require_one(text,boolean,boolean) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.require_replayed(lsn pg_lsn) -- a006b84559bc
grant execute on function app_hidden.require_replayed(pg_lsn) to graph_app;
grant execute on function app_hidden.require_replayed(pg_lsn) to graph_basic;
grant execute on function app_hidden.require_replayed(pg_lsn) to graph_user;

CREATE OR REPLACE FUNCTION app_hidden.require_service(organization_id uuid) -- 1a09a7ce41c9
grant execute on function app_hidden.require_service(uuid) to graph_admin;
grant execute on function app_hidden.require_service(uuid) to graph_helper;
grant execute on function app_hidden.require_service(uuid) to graph_oauth;
grant execute on function app_hidden.require_service(uuid) to graph_worker;

CREATE OR REPLACE FUNCTION app_hidden.require_values(given text[], arguments text[], "values" text[]) -- 399b33a834dd
grant execute on function app_hidden.require_values(text[],text[],text[]) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.row_values(value record) -- dd23e49b1c13
grant execute on function app_hidden.row_values(record) to graph_admin;
grant execute on function app_hidden.row_values(record) to graph_app;
grant execute on function app_hidden.row_values(record) to graph_helper;
grant execute on function app_hidden.row_values(record) to graph_oauth;
grant execute on function app_hidden.row_values(record) to graph_user;
grant execute on function app_hidden.row_values(record) to graph_worker;

create table app_hidden.secret_key_check ( -- ea0f5f0fa6fb
  is_only boolean default true not null,
  salt bytea not null,
  checksum bytea not null
);
alter table app_hidden.secret_key_check enable row level security, force row level security;
grant delete, insert, select, update on app_hidden.secret_key_check to graph_admin;
grant insert, select on app_hidden.secret_key_check to graph_helper;
alter table app_hidden.secret_key_check add constraint secret_key_check_checksum_length CHECK (octet_length(checksum) = 32);
alter table app_hidden.secret_key_check add constraint secret_key_check_one CHECK (is_only);
alter table app_hidden.secret_key_check add constraint secret_key_check_pkey PRIMARY KEY (is_only);
alter table app_hidden.secret_key_check add constraint secret_key_check_salt_length CHECK (octet_length(salt) = 16);
create policy all_graph_admin on app_hidden.secret_key_check for all to graph_admin -- 232b744982bb
create policy insert_graph_helper on app_hidden.secret_key_check for insert to graph_helper -- 3b50afb38691
create policy select_graph_helper on app_hidden.secret_key_check for select to graph_helper -- 52d9bfe42838

CREATE OR REPLACE FUNCTION app_hidden.see_webhook_directory(seen text) -- d7b4be7f00d5
grant execute on function app_hidden.see_webhook_directory(text) to graph_admin;

CREATE OR REPLACE FUNCTION app_hidden.set_updated_at() -- 0e032da868a5

CREATE OR REPLACE FUNCTION app_hidden.take_webhook_charge() -- da7b0b5637bb
grant execute on function app_hidden.take_webhook_charge() to graph_admin;

CREATE OR REPLACE FUNCTION app_hidden.time_zone_key(name text) -- f55cb4afde0d
grant execute on function app_hidden.time_zone_key(text) to graph_admin;
grant execute on function app_hidden.time_zone_key(text) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.time_zone_problems(names text[]) -- beddeed6a70f
grant execute on function app_hidden.time_zone_problems(text[]) to graph_admin;
grant execute on function app_hidden.time_zone_problems(text[]) to graph_app;

create table app_hidden.time_zones ( -- 971e9b1ce4a4
  name text collate "C" not null,
  key text collate "C" generated always as (app_hidden.time_zone_key(name)) stored not null
);
alter table app_hidden.time_zones enable row level security, force row level security;
grant delete, insert, select, update on app_hidden.time_zones to graph_admin;
grant select on app_hidden.time_zones to graph_app;
alter table app_hidden.time_zones add constraint time_zones_pkey PRIMARY KEY (name);
CREATE INDEX time_zones_key_idx ON app_hidden.time_zones USING btree (key);
create policy all_graph_admin on app_hidden.time_zones for all to graph_admin -- 1e271e50ea84
create policy select_graph_app on app_hidden.time_zones for select to graph_app -- 674d15a15fc4

CREATE OR REPLACE FUNCTION app_hidden.trimmed(value text) -- 2ead9f2189c6
grant execute on function app_hidden.trimmed(text) to graph_admin;
grant execute on function app_hidden.trimmed(text) to graph_app;
grant execute on function app_hidden.trimmed(text) to graph_helper;

CREATE OR REPLACE FUNCTION app_hidden.unique_values(judged app_hidden.judged_user[]) -- 670786a9d756
grant execute on function app_hidden.unique_values(app_hidden.judged_user[]) to graph_admin;
grant execute on function app_hidden.unique_values(app_hidden.judged_user[]) to graph_app;

create table app_hidden.unit_access ( -- eec38272b75e
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  user_id uuid not null,
  unit_id uuid not null,
  source text collate "C",
  valid_from timestamp with time zone,
  valid_until timestamp with time zone,
  created_at timestamp with time zone default now() not null
);
alter table app_hidden.unit_access enable row level security, force row level security;
grant delete, insert, select, update on app_hidden.unit_access to graph_admin;
grant delete, insert (organization_id, user_id, unit_id, source, valid_from, valid_until), select, update (valid_from, valid_until) on app_hidden.unit_access to graph_app;
grant select on app_hidden.unit_access to graph_basic;
grant select on app_hidden.unit_access to graph_user;
alter table app_hidden.unit_access add constraint unit_access_pkey PRIMARY KEY (organization_id, id);
alter table app_hidden.unit_access add constraint unit_access_source_length CHECK (char_length(source) >= 1 AND char_length(source) <= 200); -- ebdba7d1e903
alter table app_hidden.unit_access add constraint unit_access_unit_id_fkey FOREIGN KEY (organization_id, unit_id) REFERENCES app_public.units(organization_id, id) ON DELETE CASCADE;
alter table app_hidden.unit_access add constraint unit_access_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES app_public.users(organization_id, id) ON DELETE CASCADE;
alter table app_hidden.unit_access add constraint unit_access_user_id_unit_id_source_key UNIQUE NULLS NOT DISTINCT (organization_id, user_id, unit_id, source) INCLUDE (valid_from, valid_until);
alter table app_hidden.unit_access add constraint unit_access_validity CHECK (valid_until > valid_from); -- f41251809aa9
CREATE INDEX unit_access_unit_id_idx ON app_hidden.unit_access USING btree (organization_id, unit_id, id) INCLUDE (user_id, valid_from, valid_until);
CREATE INDEX unit_access_user_id_idx ON app_hidden.unit_access USING btree (organization_id, user_id, id);
create policy all_graph_admin on app_hidden.unit_access for all to graph_admin -- 1732d3ad40e7
create policy delete_graph_app on app_hidden.unit_access for delete to graph_app -- d3d428f33213
create policy insert_graph_app on app_hidden.unit_access for insert to graph_app -- e523bb118ea4
create policy select_graph_app on app_hidden.unit_access for select to graph_app -- d43ad7a3d61a
create policy select_graph_basic on app_hidden.unit_access for select to graph_basic -- f9b67fd61147
create policy select_graph_user on app_hidden.unit_access for select to graph_user -- 4c77a082846f
create policy update_graph_app on app_hidden.unit_access for update to graph_app -- 0626de97a974
CREATE TRIGGER audit_columns AFTER UPDATE OF user_id, created_at ON app_hidden.unit_access FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TRIGGER audit_delete AFTER DELETE ON app_hidden.unit_access REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('pd', '3568745739208643407', '({},{created_at},user_id,{id},t)');
CREATE TRIGGER audit_insert AFTER INSERT ON app_hidden.unit_access REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('pd', '3568745739208643407', '({},{created_at},user_id,{id},t)');
CREATE TRIGGER audit_update AFTER UPDATE ON app_hidden.unit_access FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_row('pd', '3568745739208643407', '({},{created_at},user_id,{id},t)');
CREATE TRIGGER follow_delete AFTER DELETE ON app_hidden.unit_access REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.access_grants', '', '0', '{unit_id,user_id}', 'id');
CREATE TRIGGER follow_insert AFTER INSERT ON app_hidden.unit_access REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.access_grants', '', '0', '{unit_id,user_id}', 'id');
CREATE TRIGGER follow_update AFTER UPDATE ON app_hidden.unit_access FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION feed.record_row('app_public.access_grants', '', '0', '{unit_id,user_id}', 'id');

create table app_hidden.unit_ancestors ( -- 31609bdb71b8
  organization_id uuid not null,
  ancestor_id uuid not null,
  unit_id uuid not null
);
alter table app_hidden.unit_ancestors enable row level security, force row level security;
grant select on app_hidden.unit_ancestors to graph_admin;
grant select on app_hidden.unit_ancestors to graph_app;
grant delete, insert, select on app_hidden.unit_ancestors to graph_helper;
grant select on app_hidden.unit_ancestors to graph_user;
alter table app_hidden.unit_ancestors add constraint unit_ancestors_pkey PRIMARY KEY (organization_id, ancestor_id, unit_id);
create policy delete_graph_helper on app_hidden.unit_ancestors for delete to graph_helper -- f5a054300058
create policy insert_graph_helper on app_hidden.unit_ancestors for insert to graph_helper -- 984cc910daf7
create policy select_graph_admin on app_hidden.unit_ancestors for select to graph_admin -- 928e82c877f5
create policy select_graph_app on app_hidden.unit_ancestors for select to graph_app -- 2384313642ac
create policy select_graph_helper on app_hidden.unit_ancestors for select to graph_helper -- 716fbfd64077
create policy select_graph_user on app_hidden.unit_ancestors for select to graph_user -- 4e37562767ca

CREATE OR REPLACE FUNCTION app_hidden.units_delete_ancestors() -- eaaa043cdbac
alter function app_hidden.units_delete_ancestors() owner to graph_helper;

CREATE OR REPLACE FUNCTION app_hidden.units_insert_ancestors() -- f29fe0ccd5dc
alter function app_hidden.units_insert_ancestors() owner to graph_helper;

CREATE OR REPLACE FUNCTION app_hidden.units_lock_tree() -- 498178cc90db

CREATE OR REPLACE FUNCTION app_hidden.units_move_subtrees() -- 2b99eec6adc0
alter function app_hidden.units_move_subtrees() owner to graph_helper;

CREATE OR REPLACE FUNCTION app_hidden.units_place() -- 320d95a683fa

CREATE OR REPLACE FUNCTION app_hidden.users_check_time_zone() -- 0bb64775ad44

CREATE OR REPLACE FUNCTION app_hidden.uuid_v7() -- f272fed91180
grant execute on function app_hidden.uuid_v7() to graph_admin;
grant execute on function app_hidden.uuid_v7() to graph_app;
grant execute on function app_hidden.uuid_v7() to graph_oauth;
grant execute on function app_hidden.uuid_v7() to graph_worker;

create table app_hidden.webhook_charge ( -- 9087a1e98265
  is_only boolean default true not null,
  system_identifier bigint not null,
  database_oid oid not null,
  directory text
);
alter table app_hidden.webhook_charge enable row level security, force row level security;
grant delete, insert, select, update on app_hidden.webhook_charge to graph_admin;
grant select on app_hidden.webhook_charge to graph_worker;
alter table app_hidden.webhook_charge add constraint webhook_charge_one CHECK (is_only);
alter table app_hidden.webhook_charge add constraint webhook_charge_pkey PRIMARY KEY (is_only);
create policy all_graph_admin on app_hidden.webhook_charge for all to graph_admin -- 470e2284f1d4
create policy select_graph_worker on app_hidden.webhook_charge for select to graph_worker -- a9a04cda3b04

create table app_hidden.webhook_positions ( -- 26ddce5c2c48
  organization_id uuid not null,
  webhook_id uuid not null,
  origin bigint not null,
  horizon xid8 not null,
  change_id bigint not null,
  at timestamp with time zone not null,
  leased_until timestamp with time zone
);
alter table app_hidden.webhook_positions enable row level security, force row level security;
grant delete, insert, select, update on app_hidden.webhook_positions to graph_admin;
grant insert (organization_id, webhook_id, origin, horizon, change_id, at), select on app_hidden.webhook_positions to graph_app;
grant select, update (origin, horizon, change_id, at, leased_until) on app_hidden.webhook_positions to graph_worker;
alter table app_hidden.webhook_positions add constraint webhook_positions_pkey PRIMARY KEY (organization_id, webhook_id);
alter table app_hidden.webhook_positions add constraint webhook_positions_webhook_id_fkey FOREIGN KEY (organization_id, webhook_id) REFERENCES app_public.webhooks(organization_id, id) ON DELETE CASCADE;
create policy all_graph_admin on app_hidden.webhook_positions for all to graph_admin -- 1d23bd21cfc4
create policy insert_graph_app on app_hidden.webhook_positions for insert to graph_app -- 10237391a2ef
create policy select_graph_app on app_hidden.webhook_positions for select to graph_app -- 71902cf86a03
create policy select_graph_worker on app_hidden.webhook_positions for select to graph_worker -- 96d49126ee07
create policy update_graph_worker on app_hidden.webhook_positions for update to graph_worker -- c90e32bc39d7

CREATE OR REPLACE FUNCTION app_hidden.white_space() -- bfeee468dca5
grant execute on function app_hidden.white_space() to graph_admin;
grant execute on function app_hidden.white_space() to graph_app;
grant execute on function app_hidden.white_space() to graph_helper;

CREATE OR REPLACE FUNCTION app_hidden.write_cards(judged app_hidden.judged_card[]) -- 927126072307
grant execute on function app_hidden.write_cards(app_hidden.judged_card[]) to graph_admin;
grant execute on function app_hidden.write_cards(app_hidden.judged_card[]) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.write_units(judged app_hidden.judged_unit[]) -- 0601feb0bda8
grant execute on function app_hidden.write_units(app_hidden.judged_unit[]) to graph_admin;
grant execute on function app_hidden.write_units(app_hidden.judged_unit[]) to graph_app;

CREATE OR REPLACE FUNCTION app_hidden.write_users(judged app_hidden.judged_user[], source text) -- 8951371263bb
grant execute on function app_hidden.write_users(app_hidden.judged_user[],text) to graph_admin;
grant execute on function app_hidden.write_users(app_hidden.judged_user[],text) to graph_app;

create schema app_public; -- 47d05d2a2258
grant usage on schema app_public to graph_admin;
grant usage on schema app_public to graph_app;
grant usage on schema app_public to graph_basic;
grant usage on schema app_public to graph_helper;
grant usage on schema app_public to graph_oauth;
grant usage on schema app_public to graph_purger;
grant usage on schema app_public to graph_user;
grant usage on schema app_public to graph_worker;

create type app_public.access_decision as ( -- ffae43c589e7
  organization_id uuid,
  is_allowed boolean,
  reason app_public.access_reason,
  user_id uuid,
  unit_id uuid,
  card_id uuid,
  access_grant_id uuid
);

CREATE OR REPLACE FUNCTION app_public.access_grant(user_id uuid DEFAULT NULL::uuid, user_external_identifier text DEFAULT NULL::text, unit_id uuid DEFAULT NULL::uuid, unit_external_identifier text DEFAULT NULL::text, valid_from timestamp with time zone DEFAULT NULL::timestamp with time zone, valid_until timestamp with time zone DEFAULT NULL::timestamp with time zone, source text DEFAULT NULL::text, given text[] DEFAULT '{}'::text[]) -- bd3a14bc7cb8
grant execute on function app_public.access_grant(uuid,text,uuid,text,timestamp with time zone,timestamp with time zone,text,text[]) to graph_app;

create view app_public.access_grants with (security_invoker=true) as -- 5cf93ab6902a
grant select on app_public.access_grants to graph_app;
grant select on app_public.access_grants to graph_basic;
grant select on app_public.access_grants to graph_user;

create type app_public.access_reason as enum ('GRANTED', 'NO_GRANT', 'NOT_YET_VALID', 'EXPIRED', 'CARD_UNKNOWN', 'CARD_UNASSIGNED', 'USER_UNKNOWN', 'UNIT_UNKNOWN'); -- a87b4e0ae58d

CREATE OR REPLACE FUNCTION app_public.access_revoke(id uuid DEFAULT NULL::uuid, user_id uuid DEFAULT NULL::uuid, user_external_identifier text DEFAULT NULL::text, unit_id uuid DEFAULT NULL::uuid, unit_external_identifier text DEFAULT NULL::text, source text DEFAULT NULL::text) -- 63acdf7525cd
grant execute on function app_public.access_revoke(uuid,uuid,text,uuid,text,text) to graph_app;

create view app_public.app with (security_invoker=true) as -- 3e85c32358fb
grant select on app_public.app to graph_app;

CREATE OR REPLACE FUNCTION app_public.app_access_decision(app app_public.app, credential app_public.credential_input, unit_id uuid DEFAULT NULL::uuid, unit_external_identifier text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) -- dda1d6605265
grant execute on function app_public.app_access_decision(app_public.app,app_public.credential_input,uuid,text,timestamp with time zone) to graph_app;

CREATE OR REPLACE FUNCTION app_public.beacon_card_create(name text, proximity_uuid uuid, major integer, minor integer, external_identifier text DEFAULT NULL::text) -- b7e488172cd1
grant execute on function app_public.beacon_card_create(text,uuid,integer,integer,text) to graph_app;

create type app_public.beacon_input as ( -- 32f6875da6da
  proximity_uuid uuid,
  major integer,
  minor integer
);

CREATE OR REPLACE FUNCTION app_public.card_assign(card_id uuid DEFAULT NULL::uuid, card_external_identifier text DEFAULT NULL::text, user_id uuid DEFAULT NULL::uuid, user_external_identifier text DEFAULT NULL::text) -- 8d679d8d9b28
grant execute on function app_public.card_assign(uuid,text,uuid,text) to graph_app;

create table app_public.card_assignments ( -- 17c9b4ea92c6
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  user_id uuid not null,
  card_id uuid not null,
  created_at timestamp with time zone default now() not null,
  is_exclusive boolean not null,
  card_type text not null
);
alter table app_public.card_assignments enable row level security, force row level security;
grant delete, insert, select, update on app_public.card_assignments to graph_admin;
grant delete, insert (organization_id, user_id, card_id), select on app_public.card_assignments to graph_app;
grant select on app_public.card_assignments to graph_basic;
grant select on app_public.card_assignments to graph_user;
alter table app_public.card_assignments add constraint card_assignments_card_id_fkey FOREIGN KEY (organization_id, card_id) REFERENCES app_public.cards(organization_id, id) ON DELETE CASCADE; -- 9d40252901ee
alter table app_public.card_assignments add constraint card_assignments_card_id_user_id_key UNIQUE (organization_id, card_id, user_id);
alter table app_public.card_assignments add constraint card_assignments_pkey PRIMARY KEY (organization_id, id);
alter table app_public.card_assignments add constraint card_assignments_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES app_public.users(organization_id, id) ON DELETE CASCADE; -- f7d7592d50ac
CREATE UNIQUE INDEX card_assignments_card_id_key ON app_public.card_assignments USING btree (organization_id, card_id) WHERE is_exclusive; -- 7d104f76730b
CREATE INDEX card_assignments_user_id_idx ON app_public.card_assignments USING btree (organization_id, user_id, id);
create policy all_graph_admin on app_public.card_assignments for all to graph_admin -- 6ec19dc09df9
create policy delete_graph_app on app_public.card_assignments for delete to graph_app -- a98c28342096
create policy insert_graph_app on app_public.card_assignments for insert to graph_app -- 4235b65091b9
create policy select_graph_app on app_public.card_assignments for select to graph_app -- 213d2e8a4fd9
create policy select_graph_basic on app_public.card_assignments for select to graph_basic -- 6868b89453da
create policy select_graph_user on app_public.card_assignments for select to graph_user -- 1f48796975f0
CREATE TRIGGER audit_columns AFTER UPDATE OF user_id, created_at, is_exclusive, card_type ON app_public.card_assignments FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TRIGGER audit_delete AFTER DELETE ON app_public.card_assignments REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('pddd', '-4652027805736947776', '({},"{created_at,is_exclusive,card_type}",user_id,{id},t)');
CREATE TRIGGER audit_insert AFTER INSERT ON app_public.card_assignments REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('pddd', '-4652027805736947776', '({},"{created_at,is_exclusive,card_type}",user_id,{id},t)');
CREATE TRIGGER audit_update AFTER UPDATE ON app_public.card_assignments FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_row('pddd', '-4652027805736947776', '({},"{created_at,is_exclusive,card_type}",user_id,{id},t)');
CREATE TRIGGER card_assignments_100_place BEFORE INSERT OR UPDATE OF card_id, is_exclusive, card_type ON app_public.card_assignments FOR EACH ROW EXECUTE FUNCTION app_hidden.card_assignments_place();
CREATE TRIGGER follow_delete AFTER DELETE ON app_public.card_assignments REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.card_assignments', '', '0', '{card_id,card_type,user_id}', 'id');
CREATE TRIGGER follow_insert AFTER INSERT ON app_public.card_assignments REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.card_assignments', '', '0', '{card_id,card_type,user_id}', 'id');
CREATE TRIGGER follow_update AFTER UPDATE ON app_public.card_assignments FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION feed.record_row('app_public.card_assignments', '', '0', '{card_id,card_type,user_id}', 'id');

CREATE OR REPLACE FUNCTION app_public.card_delete(id uuid DEFAULT NULL::uuid, external_identifier text DEFAULT NULL::text) -- b004e10fed8b
grant execute on function app_public.card_delete(uuid,text) to graph_app;

create type app_public.card_sync_input as ( -- e4d4975773c4
  external_identifier text,
  name text,
  nfc_identifier text,
  beacon app_public.beacon_input,
  user_external_identifier text
);

create type app_public.card_sync_result as ( -- 8933f7cf1e99
  external_identifier text,
  outcome app_public.sync_outcome,
  card app_public.cards,
  error app_public.sync_error
);

CREATE OR REPLACE FUNCTION app_public.card_unassign(id uuid DEFAULT NULL::uuid, card_id uuid DEFAULT NULL::uuid, card_external_identifier text DEFAULT NULL::text, user_id uuid DEFAULT NULL::uuid, user_external_identifier text DEFAULT NULL::text) -- e10a1abd25f7
grant execute on function app_public.card_unassign(uuid,uuid,text,uuid,text) to graph_app;

CREATE OR REPLACE FUNCTION app_public.card_update(id uuid DEFAULT NULL::uuid, external_identifier text DEFAULT NULL::text, name text DEFAULT NULL::text, given text[] DEFAULT '{}'::text[]) -- 50ede0f819be
grant execute on function app_public.card_update(uuid,text,text,text[]) to graph_app;

create table app_public.cards ( -- 0d3a40b629ba
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  type text not null,
  name text collate "C" not null,
  proximity_uuid uuid,
  major integer,
  minor integer,
  nfc_identifier text collate "C",
  external_identifier text collate "C",
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null
);
alter table app_public.cards enable row level security, force row level security;
grant delete, insert, select, update on app_public.cards to graph_admin;
grant delete, insert (organization_id, type, name, proximity_uuid, major, minor, nfc_identifier, external_identifier), select, update (name, proximity_uuid, major, minor, nfc_identifier, external_identifier) on app_public.cards to graph_app;
grant select on app_public.cards to graph_basic;
grant select on app_public.cards to graph_user;
alter table app_public.cards add constraint cards_beacon CHECK (
CASE
    WHEN type = 'BeaconCard'::text THEN proximity_uuid IS NOT NULL AND major IS NOT NULL AND minor IS NOT NULL
    ELSE proximity_uuid IS NULL AND major IS NULL AND minor IS NULL
END);
alter table app_public.cards add constraint cards_beacon_key UNIQUE (organization_id, proximity_uuid, major, minor) DEFERRABLE; -- 27d6a8027f3a
alter table app_public.cards add constraint cards_external_identifier_key UNIQUE (organization_id, external_identifier); -- 91caf92e95e0
alter table app_public.cards add constraint cards_external_identifier_length CHECK (char_length(external_identifier) >= 1 AND char_length(external_identifier) <= 200); -- 7c1fe6b407ee
alter table app_public.cards add constraint cards_major_range CHECK (major >= 0 AND major <= 65535); -- ee26e37e4fdb
alter table app_public.cards add constraint cards_minor_range CHECK (minor >= 0 AND minor <= 65535); -- 0e43a0095f9e
alter table app_public.cards add constraint cards_name_text CHECK (app_hidden.is_text(name)); -- d468487465fc
alter table app_public.cards add constraint cards_nfc CHECK ((type = 'NfcCard'::text) = (nfc_identifier IS NOT NULL));
alter table app_public.cards add constraint cards_nfc_identifier_format CHECK (nfc_identifier ~ '^([0-9A-F]{8}|[0-9A-F]{14}|[0-9A-F]{20})$'::text); -- eee5b86059a5
alter table app_public.cards add constraint cards_nfc_identifier_key UNIQUE (organization_id, nfc_identifier) DEFERRABLE; -- 365e7e746b40
alter table app_public.cards add constraint cards_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES app_hidden.organizations(id);
alter table app_public.cards add constraint cards_pkey PRIMARY KEY (organization_id, id);
alter table app_public.cards add constraint cards_type_known CHECK (type = ANY (ARRAY['BeaconCard'::text, 'NfcCard'::text, 'IdentificationCode'::text]));
CREATE INDEX cards_external_identifier_order_idx ON app_public.cards USING btree (organization_id, COALESCE(external_identifier, ''::text), id);
create policy all_graph_admin on app_public.cards for all to graph_admin -- 02ce2268562c
create policy delete_graph_app on app_public.cards for delete to graph_app -- b8fc988d438a
create policy insert_graph_app on app_public.cards for insert to graph_app -- 8cf35671065d
create policy select_graph_app on app_public.cards for select to graph_app -- 82696afb041b
create policy select_graph_basic on app_public.cards for select to graph_basic -- 2462729af828
create policy select_graph_user on app_public.cards for select to graph_user -- dd05cd139baf
create policy update_graph_app on app_public.cards for update to graph_app -- 7115a041d8b5
CREATE TRIGGER audit_columns AFTER UPDATE OF created_at, updated_at ON app_public.cards FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TRIGGER audit_delete AFTER DELETE ON app_public.cards REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('dd', '7923787113550030042', '({},"{created_at,updated_at}",,{id},t)');
CREATE TRIGGER audit_insert AFTER INSERT ON app_public.cards REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('dd', '7923787113550030042', '({},"{created_at,updated_at}",,{id},t)');
CREATE TRIGGER audit_update AFTER UPDATE ON app_public.cards FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_row('dd', '7923787113550030042', '({},"{created_at,updated_at}",,{id},t)');
CREATE TRIGGER cards_100_keep_type BEFORE UPDATE OF type ON app_public.cards FOR EACH ROW WHEN (old.type <> new.type) EXECUTE FUNCTION app_hidden.cards_keep_type();
CREATE TRIGGER cards_900_updated BEFORE UPDATE ON app_public.cards FOR EACH ROW EXECUTE FUNCTION app_hidden.set_updated_at();
CREATE TRIGGER follow_delete AFTER DELETE ON app_public.cards REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.cards', 'type', '0', '{}', 'id');
CREATE TRIGGER follow_insert AFTER INSERT ON app_public.cards REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.cards', 'type', '0', '{}', 'id');
CREATE TRIGGER follow_update AFTER UPDATE ON app_public.cards FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION feed.record_row('app_public.cards', 'type', '0', '{}', 'id');

CREATE OR REPLACE FUNCTION app_public.cards_sync(cards jsonb[], dry_run boolean DEFAULT false) -- f9756f785ec0
grant execute on function app_public.cards_sync(jsonb[],boolean) to graph_admin;
grant execute on function app_public.cards_sync(jsonb[],boolean) to graph_app;

create type app_public.credential_input as ( -- be952ce02d83
  user_id uuid,
  user_external_identifier text,
  card_id uuid,
  card_external_identifier text,
  nfc_identifier text,
  beacon app_public.beacon_input
);

create type app_public.delete_outcome as enum ('DELETED', 'NOT_FOUND'); -- 4ae7d283ef9a

create type app_public.delivery_outcome as enum ('PENDING', 'DELIVERED', 'FAILED'); -- e57ff3679378
grant usage on type app_public.delivery_outcome to graph_admin;
grant usage on type app_public.delivery_outcome to graph_app;
grant usage on type app_public.delivery_outcome to graph_basic;
grant usage on type app_public.delivery_outcome to graph_user;
grant usage on type app_public.delivery_outcome to graph_worker;
grant usage on type app_public.delivery_outcome to public;

CREATE OR REPLACE FUNCTION app_public.identification_code_create(name text, external_identifier text DEFAULT NULL::text) -- 60fafb603c27
grant execute on function app_public.identification_code_create(text,text) to graph_app;

CREATE OR REPLACE FUNCTION app_public.nfc_card_create(name text, nfc_identifier text, external_identifier text DEFAULT NULL::text) -- 60c6b7596acf
grant execute on function app_public.nfc_card_create(text,text,text) to graph_app;

create type app_public.sync_error as ( -- 9625c5a099ba
  code text,
  argument text,
  message text
);

create type app_public.sync_outcome as enum ('CREATED', 'UPDATED', 'UNCHANGED', 'REFUSED'); -- a4ae38dbd97a

CREATE OR REPLACE FUNCTION app_public.unit_create(name text, external_identifier text DEFAULT NULL::text, parent_id uuid DEFAULT NULL::uuid, parent_external_identifier text DEFAULT NULL::text) -- 6c0d1db83bcd
grant execute on function app_public.unit_create(text,text,uuid,text) to graph_app;

CREATE OR REPLACE FUNCTION app_public.unit_delete(id uuid DEFAULT NULL::uuid, external_identifier text DEFAULT NULL::text, with_descendants boolean DEFAULT false) -- 9f15ae27888b
grant execute on function app_public.unit_delete(uuid,text,boolean) to graph_app;

create type app_public.unit_sync_input as ( -- 3be8f626dfe3
  external_identifier text,
  name text,
  parent_external_identifier text
);

create type app_public.unit_sync_result as ( -- 1e57817af9ad
  external_identifier text,
  outcome app_public.sync_outcome,
  unit app_public.units,
  error app_public.sync_error
);

CREATE OR REPLACE FUNCTION app_public.unit_update(id uuid DEFAULT NULL::uuid, external_identifier text DEFAULT NULL::text, name text DEFAULT NULL::text, parent_id uuid DEFAULT NULL::uuid, parent_external_identifier text DEFAULT NULL::text, given text[] DEFAULT '{}'::text[]) -- f64719fe3b85
grant execute on function app_public.unit_update(uuid,text,text,uuid,text,text[]) to graph_app;

create table app_public.units ( -- 3c48e8b469f3
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  parent_id uuid,
  external_identifier text collate "C",
  name text collate "C" not null,
  ancestor_ids uuid[] not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null
);
alter table app_public.units enable row level security, force row level security;
grant delete, insert, select, update on app_public.units to graph_admin;
grant delete, insert (organization_id, id, parent_id, external_identifier, name), select, update (parent_id, external_identifier, name) on app_public.units to graph_app;
grant select on app_public.units to graph_basic;
grant select (organization_id, id, parent_id, ancestor_ids), update (ancestor_ids) on app_public.units to graph_helper;
grant select on app_public.units to graph_user;
alter table app_public.units add constraint units_ancestor_ids_path CHECK (ancestor_ids[cardinality(ancestor_ids)] = id AND NOT ancestor_ids[cardinality(ancestor_ids) - 1] IS DISTINCT FROM parent_id);
alter table app_public.units add constraint units_external_identifier_key UNIQUE (organization_id, external_identifier); -- b6e1f5c364ad
alter table app_public.units add constraint units_external_identifier_length CHECK (char_length(external_identifier) >= 1 AND char_length(external_identifier) <= 200); -- 7daeecf1b5ac
alter table app_public.units add constraint units_name_text CHECK (app_hidden.is_text(name)); -- 5fdf16ff52cd
alter table app_public.units add constraint units_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES app_hidden.organizations(id);
alter table app_public.units add constraint units_parent_id_fkey FOREIGN KEY (organization_id, parent_id) REFERENCES app_public.units(organization_id, id); -- 29d682cfafdb
alter table app_public.units add constraint units_pkey PRIMARY KEY (organization_id, id);
CREATE INDEX units_ancestor_ids_idx ON app_public.units USING gin (ancestor_ids);
CREATE INDEX units_external_identifier_order_idx ON app_public.units USING btree (organization_id, COALESCE(external_identifier, ''::text), id);
CREATE INDEX units_name_idx ON app_public.units USING btree (organization_id, name, id);
CREATE INDEX units_parent_id_idx ON app_public.units USING btree (organization_id, parent_id, id);
CREATE INDEX units_root_idx ON app_public.units USING btree (organization_id, id) WHERE parent_id IS NULL;
create policy all_graph_admin on app_public.units for all to graph_admin -- dcf096d1a93a
create policy delete_graph_app on app_public.units for delete to graph_app -- d2a8107337a5
create policy insert_graph_app on app_public.units for insert to graph_app -- fff50b140bd1
create policy select_graph_app on app_public.units for select to graph_app -- 92470e7e57f1
create policy select_graph_basic on app_public.units for select to graph_basic -- 4fceb3299bc8
create policy select_graph_helper on app_public.units for select to graph_helper -- dabd06275a31
create policy select_graph_user on app_public.units for select to graph_user -- 175adfa18739
create policy update_graph_app on app_public.units for update to graph_app -- 18ac1ffe313e
create policy update_graph_helper on app_public.units for update to graph_helper -- 6ca5ba2addcc
CREATE TRIGGER audit_columns AFTER UPDATE OF ancestor_ids, created_at, updated_at ON app_public.units FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TRIGGER audit_delete AFTER DELETE ON app_public.units REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ddd', '-8593766307313990097', '({},"{ancestor_ids,created_at,updated_at}",,{id},t)');
CREATE TRIGGER audit_insert AFTER INSERT ON app_public.units REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ddd', '-8593766307313990097', '({},"{ancestor_ids,created_at,updated_at}",,{id},t)');
CREATE TRIGGER audit_update AFTER UPDATE ON app_public.units FOR EACH ROW WHEN (CURRENT_USER <> 'graph_helper'::name AND old.* *<> new.*) EXECUTE FUNCTION audit.record_row('ddd', '-8593766307313990097', '({},"{ancestor_ids,created_at,updated_at}",,{id},t)');
CREATE TRIGGER follow_columns AFTER UPDATE OF ancestor_ids ON app_public.units FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TRIGGER follow_delete AFTER DELETE ON app_public.units REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.units', '', '1', '{parent_id}', 'id');
CREATE TRIGGER follow_insert AFTER INSERT ON app_public.units REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.units', '', '1', '{parent_id}', 'id');
CREATE TRIGGER follow_update AFTER UPDATE ON app_public.units FOR EACH ROW WHEN (CURRENT_USER <> 'graph_helper'::name AND old.* *<> new.*) EXECUTE FUNCTION feed.record_row('app_public.units', '', '1', '{parent_id}', 'id');
CREATE TRIGGER units_100_lock_tree BEFORE INSERT OR DELETE OR UPDATE OF parent_id ON app_public.units FOR EACH STATEMENT EXECUTE FUNCTION app_hidden.units_lock_tree();
CREATE TRIGGER units_200_place BEFORE INSERT OR UPDATE OF parent_id ON app_public.units FOR EACH ROW EXECUTE FUNCTION app_hidden.units_place();
CREATE TRIGGER units_300_delete_ancestors AFTER DELETE ON app_public.units REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION app_hidden.units_delete_ancestors();
CREATE TRIGGER units_300_insert_ancestors AFTER INSERT ON app_public.units REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION app_hidden.units_insert_ancestors();
CREATE TRIGGER units_300_move_subtrees AFTER UPDATE ON app_public.units REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION app_hidden.units_move_subtrees();
CREATE TRIGGER units_900_updated BEFORE UPDATE ON app_public.units FOR EACH ROW WHEN (CURRENT_USER <> 'graph_helper'::name) EXECUTE FUNCTION app_hidden.set_updated_at('ancestor_ids');

CREATE OR REPLACE FUNCTION app_public.units_sync(units jsonb[], dry_run boolean DEFAULT false) -- 3364ddc1a398
grant execute on function app_public.units_sync(jsonb[],boolean) to graph_admin;
grant execute on function app_public.units_sync(jsonb[],boolean) to graph_app;

CREATE OR REPLACE FUNCTION app_public.user_create(full_name text, email text, locale text DEFAULT NULL::text, time_zone text DEFAULT NULL::text, timezone text DEFAULT NULL::text, external_identifier text DEFAULT NULL::text, external_authentication_token jsonb DEFAULT NULL::jsonb) -- 941d6e0abc18
grant execute on function app_public.user_create(text,text,text,text,text,text,jsonb) to graph_app;

CREATE OR REPLACE FUNCTION app_public.user_delete(id uuid DEFAULT NULL::uuid, external_identifier text DEFAULT NULL::text) -- 3c889007cb13
grant execute on function app_public.user_delete(uuid,text) to graph_app;

create type app_public.user_delete_result as ( -- 2ed9fa0255d0
  id uuid,
  external_identifier text,
  outcome app_public.delete_outcome
);

create type app_public.user_sync_input as ( -- 0031fd23fcdd
  external_identifier text,
  full_name text,
  email text,
  locale text,
  time_zone text,
  external_authentication_token text,
  accessible_units text[]
);

create type app_public.user_sync_result as ( -- d8ff922b853e
  external_identifier text,
  outcome app_public.sync_outcome,
  "user" app_public.users,
  error app_public.sync_error
);

CREATE OR REPLACE FUNCTION app_public.user_update(id uuid DEFAULT NULL::uuid, external_identifier text DEFAULT NULL::text, full_name text DEFAULT NULL::text, email text DEFAULT NULL::text, locale text DEFAULT NULL::text, time_zone text DEFAULT NULL::text, timezone text DEFAULT NULL::text, external_authentication_token jsonb DEFAULT NULL::jsonb, given text[] DEFAULT '{}'::text[]) -- ad069a0dbf5e
grant execute on function app_public.user_update(uuid,text,text,text,text,text,text,jsonb,text[]) to graph_app;

create table app_public.users ( -- eafa96ae9598
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
  updated_at timestamp with time zone default now() not null
);
alter table app_public.users enable row level security, force row level security;
grant delete, insert, select, update on app_public.users to graph_admin;
grant delete, insert (organization_id, id, external_identifier, full_name, email, locale, time_zone, external_authentication_token_ciphertext, external_authentication_token_hash), select, update (external_identifier, full_name, email, locale, time_zone, external_authentication_token_ciphertext, external_authentication_token_hash) on app_public.users to graph_app;
grant select (organization_id, id, external_identifier, full_name, email, email_lowercase, locale, time_zone, external_authentication_token_ciphertext, created_at, updated_at) on app_public.users to graph_basic;
grant select (organization_id, id, full_name, email, email_lowercase, external_authentication_token_hash) on app_public.users to graph_oauth;
grant select (organization_id, id, external_identifier, full_name, email, email_lowercase, locale, time_zone, external_authentication_token_ciphertext, created_at, updated_at) on app_public.users to graph_user;
alter table app_public.users add constraint users_email_format CHECK (char_length(email) <= 254 AND email ~ '^[^@\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+@[^@\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+$'::text); -- cf18c51f4fa7
alter table app_public.users add constraint users_email_key UNIQUE (organization_id, email_lowercase) DEFERRABLE; -- a0ee9a710b1e
alter table app_public.users add constraint users_external_authentication_token_hash_key UNIQUE (organization_id, external_authentication_token_hash) DEFERRABLE; -- fdb79b734c09
alter table app_public.users add constraint users_external_authentication_token_length CHECK (octet_length(external_authentication_token_ciphertext) <= 4096 AND octet_length(external_authentication_token_hash) = 32);
alter table app_public.users add constraint users_external_authentication_token_pair CHECK ((external_authentication_token_ciphertext IS NULL) = (external_authentication_token_hash IS NULL));
alter table app_public.users add constraint users_external_identifier_key UNIQUE (organization_id, external_identifier); -- fc21018ae22d
alter table app_public.users add constraint users_external_identifier_length CHECK (char_length(external_identifier) >= 1 AND char_length(external_identifier) <= 200); -- 4ccb380d8ea1
alter table app_public.users add constraint users_full_name_text CHECK (app_hidden.is_text(full_name)); -- 17dba897efd5
alter table app_public.users add constraint users_locale_format CHECK (char_length(locale) <= 200 AND locale ~* '^([a-z]{2,3}(-[a-z]{3}){0,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(-[0-9a-wy-z](-[a-z0-9]{2,8})+)*(-x(-[a-z0-9]{1,8})+)?|x(-[a-z0-9]{1,8})+)$'::text); -- cbdfced1e1a1
alter table app_public.users add constraint users_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES app_hidden.organizations(id);
alter table app_public.users add constraint users_pkey PRIMARY KEY (organization_id, id);
CREATE INDEX users_external_identifier_order_idx ON app_public.users USING btree (organization_id, COALESCE(external_identifier, ''::text), id);
CREATE INDEX users_full_name_idx ON app_public.users USING btree (organization_id, full_name, id);
create policy all_graph_admin on app_public.users for all to graph_admin -- e88d888aecb6
create policy delete_graph_app on app_public.users for delete to graph_app -- 21f0de4df1eb
create policy insert_graph_app on app_public.users for insert to graph_app -- e4b860195392
create policy select_graph_app on app_public.users for select to graph_app -- 35f39985f943
create policy select_graph_basic on app_public.users for select to graph_basic -- 4dbddc86ea80
create policy select_graph_oauth on app_public.users for select to graph_oauth -- 6cb43d83f88f
create policy select_graph_user on app_public.users for select to graph_user -- 723a3bbf25a9
create policy update_graph_app on app_public.users for update to graph_app -- f6c066bea0ac
CREATE TRIGGER audit_columns AFTER UPDATE OF external_authentication_token_ciphertext, external_authentication_token_hash, created_at, updated_at ON app_public.users FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TRIGGER audit_delete AFTER DELETE ON app_public.users REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ssdd', '-7837107338430743921', '("{external_authentication_token_ciphertext,external_authentication_token_hash}","{email_lowercase,created_at,updated_at}",,{id},t)');
CREATE CONSTRAINT TRIGGER audit_erase AFTER DELETE ON app_public.users DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit.erase_person();
CREATE TRIGGER audit_insert AFTER INSERT ON app_public.users REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ssdd', '-7837107338430743921', '("{external_authentication_token_ciphertext,external_authentication_token_hash}","{email_lowercase,created_at,updated_at}",,{id},t)');
CREATE TRIGGER audit_update AFTER UPDATE ON app_public.users FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_row('ssdd', '-7837107338430743921', '("{external_authentication_token_ciphertext,external_authentication_token_hash}","{email_lowercase,created_at,updated_at}",,{id},t)');
CREATE TRIGGER follow_columns AFTER UPDATE OF external_authentication_token_ciphertext ON app_public.users FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TRIGGER follow_delete AFTER DELETE ON app_public.users REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.users', '', '1', '{}', 'id');
CREATE TRIGGER follow_insert AFTER INSERT ON app_public.users REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.users', '', '1', '{}', 'id');
CREATE TRIGGER follow_update AFTER UPDATE ON app_public.users FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION feed.record_row('app_public.users', '', '1', '{}', 'id');
CREATE TRIGGER users_900_updated BEFORE UPDATE ON app_public.users FOR EACH ROW EXECUTE FUNCTION app_hidden.set_updated_at('external_authentication_token_ciphertext');
CREATE TRIGGER users_time_zone BEFORE INSERT OR UPDATE OF time_zone ON app_public.users FOR EACH ROW EXECUTE FUNCTION app_hidden.users_check_time_zone();

CREATE OR REPLACE FUNCTION app_public.users_delete(ids uuid[] DEFAULT NULL::uuid[], external_identifiers text[] DEFAULT NULL::text[]) -- 3abc56189c14
grant execute on function app_public.users_delete(uuid[],text[]) to graph_app;

CREATE OR REPLACE FUNCTION app_public.users_sync(users jsonb[], dry_run boolean DEFAULT false, source text DEFAULT NULL::text) -- bf9fc229372b
grant execute on function app_public.users_sync(jsonb[],boolean,text) to graph_admin;
grant execute on function app_public.users_sync(jsonb[],boolean,text) to graph_app;

CREATE OR REPLACE FUNCTION app_public.webhook_create(url text, type_names text[] DEFAULT NULL::text[], secret jsonb DEFAULT NULL::jsonb) -- 7f5a6c9b1491
grant execute on function app_public.webhook_create(text,text[],jsonb) to graph_app;

CREATE OR REPLACE FUNCTION app_public.webhook_delete(id uuid) -- 2265ea112484
grant execute on function app_public.webhook_delete(uuid) to graph_app;

create table app_public.webhook_deliveries ( -- 49f43eed70e3
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  webhook_id uuid not null,
  origin bigint not null,
  horizon bigint not null,
  change_id bigint not null,
  changed_at timestamp with time zone not null,
  outcome app_public.delivery_outcome default 'PENDING'::app_public.delivery_outcome not null,
  attempts integer default 0 not null,
  first_attempt_at timestamp with time zone,
  next_attempt_at timestamp with time zone default statement_timestamp(),
  status_code integer,
  last_error text
)
with (autovacuum_vacuum_scale_factor=0.02);
alter table app_public.webhook_deliveries enable row level security, force row level security;
grant delete, insert, select, update on app_public.webhook_deliveries to graph_admin;
grant select, update (outcome, attempts, first_attempt_at, next_attempt_at) on app_public.webhook_deliveries to graph_app;
grant select on app_public.webhook_deliveries to graph_basic;
grant delete, select (organization_id, id, changed_at) on app_public.webhook_deliveries to graph_purger;
grant select on app_public.webhook_deliveries to graph_user;
grant insert (organization_id, webhook_id, origin, horizon, change_id, changed_at), select, update (outcome, attempts, first_attempt_at, next_attempt_at, status_code, last_error) on app_public.webhook_deliveries to graph_worker;
alter table app_public.webhook_deliveries add constraint webhook_deliveries_attempts_counted CHECK (attempts >= 0);
alter table app_public.webhook_deliveries add constraint webhook_deliveries_change_key UNIQUE (organization_id, webhook_id, origin, horizon, change_id);
alter table app_public.webhook_deliveries add constraint webhook_deliveries_last_error_length CHECK (length(last_error) >= 1 AND length(last_error) <= 200);
alter table app_public.webhook_deliveries add constraint webhook_deliveries_next_attempt_pending CHECK ((outcome = 'PENDING'::app_public.delivery_outcome) = (next_attempt_at IS NOT NULL));
alter table app_public.webhook_deliveries add constraint webhook_deliveries_pkey PRIMARY KEY (organization_id, id);
alter table app_public.webhook_deliveries add constraint webhook_deliveries_webhook_id_fkey FOREIGN KEY (organization_id, webhook_id) REFERENCES app_public.webhooks(organization_id, id) ON DELETE CASCADE; -- 2f8b8cd75297
CREATE INDEX webhook_deliveries_changed_at_idx ON app_public.webhook_deliveries USING btree (changed_at);
CREATE INDEX webhook_deliveries_due_idx ON app_public.webhook_deliveries USING btree (organization_id, webhook_id, next_attempt_at) WHERE outcome = 'PENDING'::app_public.delivery_outcome;
CREATE INDEX webhook_deliveries_webhook_id_idx ON app_public.webhook_deliveries USING btree (organization_id, webhook_id, id);
create policy all_graph_admin on app_public.webhook_deliveries for all to graph_admin -- a51c85544758
create policy delete_graph_purger on app_public.webhook_deliveries for delete to graph_purger -- b4c24677480a
create policy insert_graph_worker on app_public.webhook_deliveries for insert to graph_worker -- 14e23b224a29
create policy select_graph_app on app_public.webhook_deliveries for select to graph_app -- 749843181010
create policy select_graph_basic on app_public.webhook_deliveries for select to graph_basic -- 6082e886c01d
create policy select_graph_purger on app_public.webhook_deliveries for select to graph_purger -- b5e76918a65b
create policy select_graph_user on app_public.webhook_deliveries for select to graph_user -- 356ebb5d84a5
create policy select_graph_worker on app_public.webhook_deliveries for select to graph_worker -- b0c5024da9ba
create policy update_graph_app on app_public.webhook_deliveries for update to graph_app -- 60a0f3c38c71
create policy update_graph_worker on app_public.webhook_deliveries for update to graph_worker -- a51f0576bb39

CREATE OR REPLACE FUNCTION app_public.webhook_deliveries_feed_row(delivery app_public.webhook_deliveries) -- 4dfa37ed7f75
grant execute on function app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries) to graph_app;
grant execute on function app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries) to graph_basic;
grant execute on function app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries) to graph_user;
grant execute on function app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries) to graph_worker;

CREATE OR REPLACE FUNCTION app_public.webhook_redeliver(delivery_id uuid) -- f0fb10ce2f41
grant execute on function app_public.webhook_redeliver(uuid) to graph_app;

CREATE OR REPLACE FUNCTION app_public.webhook_rotate_secret(id uuid, secret jsonb DEFAULT NULL::jsonb) -- 812560b0aa9e
grant execute on function app_public.webhook_rotate_secret(uuid,jsonb) to graph_app;

CREATE OR REPLACE FUNCTION app_public.webhook_update(id uuid, url text DEFAULT NULL::text, type_names text[] DEFAULT NULL::text[], enabled boolean DEFAULT NULL::boolean, given text[] DEFAULT '{}'::text[]) -- ef59cb82293e
grant execute on function app_public.webhook_update(uuid,text,text[],boolean,text[]) to graph_app;

create table app_public.webhooks ( -- e075920b6855
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  url text not null,
  type_names text[],
  enabled boolean default true not null,
  secret_ciphertext bytea not null,
  previous_secret_ciphertext bytea,
  previous_valid_until timestamp with time zone,
  created_at timestamp with time zone default statement_timestamp() not null
);
alter table app_public.webhooks enable row level security, force row level security;
grant delete, insert, select, update on app_public.webhooks to graph_admin;
grant delete, insert (organization_id, id, url, type_names, secret_ciphertext), select, update (url, type_names, enabled, secret_ciphertext, previous_secret_ciphertext, previous_valid_until) on app_public.webhooks to graph_app;
grant select (organization_id, id, url, type_names, enabled, created_at) on app_public.webhooks to graph_basic;
grant select (organization_id, id, url, type_names, enabled, created_at) on app_public.webhooks to graph_user;
grant select, update (enabled) on app_public.webhooks to graph_worker;
alter table app_public.webhooks add constraint webhooks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES app_hidden.organizations(id) ON DELETE CASCADE;
alter table app_public.webhooks add constraint webhooks_pkey PRIMARY KEY (organization_id, id);
alter table app_public.webhooks add constraint webhooks_previous_secret_ciphertext_length CHECK (octet_length(previous_secret_ciphertext) >= 28 AND octet_length(previous_secret_ciphertext) <= 200);
alter table app_public.webhooks add constraint webhooks_previous_secret_complete CHECK ((previous_secret_ciphertext IS NULL) = (previous_valid_until IS NULL));
alter table app_public.webhooks add constraint webhooks_secret_ciphertext_length CHECK (octet_length(secret_ciphertext) >= 28 AND octet_length(secret_ciphertext) <= 200);
alter table app_public.webhooks add constraint webhooks_type_names_count CHECK (cardinality(type_names) >= 1 AND cardinality(type_names) <= 100 AND array_position(type_names, NULL::text) IS NULL); -- ad7ea4ea4946
alter table app_public.webhooks add constraint webhooks_url_length CHECK (length(url) >= 1 AND length(url) <= 2000); -- 74d5baa8813c
create policy all_graph_admin on app_public.webhooks for all to graph_admin -- 006a7517cc22
create policy delete_graph_app on app_public.webhooks for delete to graph_app -- 77e08911d4d1
create policy insert_graph_app on app_public.webhooks for insert to graph_app -- 983ca24003e7
create policy select_graph_app on app_public.webhooks for select to graph_app -- 3c1544d38ca0
create policy select_graph_basic on app_public.webhooks for select to graph_basic -- e8f455e4bf1d
create policy select_graph_user on app_public.webhooks for select to graph_user -- 46ac8b360d43
create policy select_graph_worker on app_public.webhooks for select to graph_worker -- 8943f973bd57
create policy update_graph_app on app_public.webhooks for update to graph_app -- 068f7590b8d5
create policy update_graph_worker on app_public.webhooks for update to graph_worker -- 484b83849d1c
CREATE TRIGGER audit_columns AFTER UPDATE OF secret_ciphertext, previous_secret_ciphertext, created_at ON app_public.webhooks FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TRIGGER audit_delete AFTER DELETE ON app_public.webhooks REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ssd', '3745872006228763498', '("{secret_ciphertext,previous_secret_ciphertext}",{created_at},,{id},t)');
CREATE TRIGGER audit_insert AFTER INSERT ON app_public.webhooks REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ssd', '3745872006228763498', '("{secret_ciphertext,previous_secret_ciphertext}",{created_at},,{id},t)');
CREATE TRIGGER audit_update AFTER UPDATE ON app_public.webhooks FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_row('ssd', '3745872006228763498', '("{secret_ciphertext,previous_secret_ciphertext}",{created_at},,{id},t)');

create schema audit; -- cd99e88f9341
grant usage on schema audit to graph_admin;
grant usage on schema audit to graph_auditor;
grant usage on schema audit to graph_helper;

create table audit.accepted ( -- bcafaa40aaab
  kind text not null,
  object text not null,
  who text not null,
  reason text not null,
  hash text
);
alter table audit.accepted enable row level security, force row level security;
grant delete, insert, select, update on audit.accepted to graph_admin;
grant select on audit.accepted to graph_auditor;
alter table audit.accepted add constraint accepted_length CHECK (char_length(kind) <= 200 AND char_length(object) <= 2000 AND char_length(who) <= 2000 AND char_length(hash) <= 10000);
alter table audit.accepted add constraint accepted_pkey PRIMARY KEY (kind, object, who);
alter table audit.accepted add constraint accepted_reason_text CHECK (char_length(reason) >= 1 AND char_length(reason) <= 2000);
create policy all_graph_admin on audit.accepted for all to graph_admin -- d27b2a8f1c6b
create policy select_graph_auditor on audit.accepted for select to graph_auditor -- cc17ce54e8f2
CREATE TRIGGER note_hash BEFORE INSERT ON audit.accepted FOR EACH ROW EXECUTE FUNCTION audit.note_hash();

CREATE OR REPLACE FUNCTION audit.asks_organization(relation regclass, role text) -- 299ba3b30ca4
grant execute on function audit.asks_organization(regclass,text) to graph_admin;

CREATE OR REPLACE FUNCTION audit.attempt(principal audit.principals, relation regclass, value jsonb, command text) -- 4f384907ae2d
grant execute on function audit.attempt(audit.principals,regclass,jsonb,text) to graph_admin;

CREATE OR REPLACE FUNCTION audit.backfill(relation regclass, reason text, statement text) -- 8afb2c91e5ed

CREATE OR REPLACE FUNCTION audit.become(principal audit.principals) -- e9f8bbbf3d1c
grant execute on function audit.become(audit.principals) to graph_admin;

create view audit.bypasses with (security_invoker=true) as -- b4d582e9e401
grant select on audit.bypasses to graph_admin;
grant select on audit.bypasses to graph_auditor;

create table audit.chains ( -- 103010d9278b
  organization_id uuid not null,
  month date not null,
  seal bigint not null,
  entries bigint not null,
  head bytea not null
);
alter table audit.chains enable row level security, force row level security;
grant insert, select on audit.chains to graph_admin;
grant select on audit.chains to graph_auditor;
alter table audit.chains add constraint chains_pkey PRIMARY KEY (organization_id, month, seal);
CREATE INDEX chains_seal_idx ON audit.chains USING btree (seal);
create policy insert_graph_admin on audit.chains for insert to graph_admin -- 98082b13dd2f
create policy select_graph_admin on audit.chains for select to graph_admin -- 13c0ba6ed626
create policy select_graph_auditor on audit.chains for select to graph_auditor -- 774a7d9e0a80

create table audit.changes ( -- 1ab25c0fa411
  id bigint generated always as identity not null,
  occurred_at timestamp with time zone default clock_timestamp() not null,
  organization_id uuid not null,
  subject_id uuid not null,
  relation text not null,
  row_id text not null,
  command text not null,
  columns text[] not null,
  before jsonb,
  after jsonb,
  role text default COALESCE(NULLIF(current_setting('role'::text), 'none'::text), SESSION_USER::text) not null,
  login text default SESSION_USER not null,
  application_id uuid default NULLIF(current_setting('graph.application_id'::text, true), ''::text)::uuid,
  user_id uuid default NULLIF(current_setting('graph.user_id'::text, true), ''::text)::uuid,
  grant_id uuid default NULLIF(current_setting('graph.grant_id'::text, true), ''::text)::uuid,
  request_id text default NULLIF("left"(current_setting('graph.request_id'::text, true), 200), ''::text),
  server_request_id text default NULLIF("left"(current_setting('graph.server_request_id'::text, true), 200), ''::text),
  salt uuid default gen_random_uuid(),
  commitment bytea
)
partition by RANGE (occurred_at);
alter table audit.changes enable row level security, force row level security;
grant select on audit.changes to graph_admin;
grant select on audit.changes to graph_auditor;
grant insert (organization_id, subject_id, relation, row_id, command, columns, before, after, role), select (organization_id, subject_id, before, after, salt), update (before, after, salt, commitment) on audit.changes to graph_helper;
CREATE INDEX changes_application_id_idx ON ONLY audit.changes USING btree (application_id, occurred_at) WHERE application_id IS NOT NULL;
CREATE INDEX changes_id_idx ON ONLY audit.changes USING brin (id) WITH (pages_per_range='32', autosummarize='true');
CREATE INDEX changes_occurred_at_idx ON ONLY audit.changes USING btree (occurred_at, id);
CREATE INDEX changes_organization_id_idx ON ONLY audit.changes USING btree (organization_id, occurred_at);
CREATE INDEX changes_user_id_idx ON ONLY audit.changes USING btree (user_id, occurred_at) WHERE user_id IS NOT NULL;
create policy insert_graph_helper on audit.changes for insert to graph_helper -- ac17ce677c3f
create policy select_graph_admin on audit.changes for select to graph_admin -- 5e3bbf209b5f
create policy select_graph_auditor on audit.changes for select to graph_auditor -- c244b5cb137a
create policy select_graph_helper on audit.changes for select to graph_helper -- 4335eb8f07b2
create policy update_graph_helper on audit.changes for update to graph_helper -- f2c1924c422e

-- A partition of audit.changes: DEFAULT.
create table audit.changes_default (
  id bigint generated always as identity not null,
  occurred_at timestamp with time zone default clock_timestamp() not null,
  organization_id uuid not null,
  subject_id uuid not null,
  relation text not null,
  row_id text not null,
  command text not null,
  columns text[] not null,
  before jsonb,
  after jsonb,
  role text default COALESCE(NULLIF(current_setting('role'::text), 'none'::text), SESSION_USER::text) not null,
  login text default SESSION_USER not null,
  application_id uuid default NULLIF(current_setting('graph.application_id'::text, true), ''::text)::uuid,
  user_id uuid default NULLIF(current_setting('graph.user_id'::text, true), ''::text)::uuid,
  grant_id uuid default NULLIF(current_setting('graph.grant_id'::text, true), ''::text)::uuid,
  request_id text default NULLIF("left"(current_setting('graph.request_id'::text, true), 200), ''::text),
  server_request_id text default NULLIF("left"(current_setting('graph.server_request_id'::text, true), 200), ''::text),
  salt uuid default gen_random_uuid(),
  commitment bytea
);
alter table audit.changes_default enable row level security, force row level security;
alter table audit.changes_default add constraint changes_default_pkey PRIMARY KEY (subject_id, organization_id, id);
CREATE INDEX changes_default_application_id_occurred_at_idx ON audit.changes_default USING btree (application_id, occurred_at) WHERE application_id IS NOT NULL;
CREATE INDEX changes_default_id_idx ON audit.changes_default USING brin (id) WITH (pages_per_range='32', autosummarize='true');
CREATE INDEX changes_default_occurred_at_id_idx ON audit.changes_default USING btree (occurred_at, id);
CREATE INDEX changes_default_organization_id_occurred_at_idx ON audit.changes_default USING btree (organization_id, occurred_at);
CREATE INDEX changes_default_user_id_occurred_at_idx ON audit.changes_default USING btree (user_id, occurred_at) WHERE user_id IS NOT NULL;
create policy select_graph_admin on audit.changes_default for select to graph_admin -- 877e540931d5

create view audit.claim_lints with (security_invoker=true) as -- 92e4b84f0c2d
grant select on audit.claim_lints to graph_admin;
grant select on audit.claim_lints to graph_auditor;

create view audit.column_lints with (security_invoker=true) as -- 246035faed2f
grant select on audit.column_lints to graph_admin;
grant select on audit.column_lints to graph_auditor;

CREATE OR REPLACE FUNCTION audit.columns_of(relation oid, kinds text, shape text, known text) -- dc587bc1852e
grant execute on function audit.columns_of(oid,text,text,text) to graph_admin;
grant execute on function audit.columns_of(oid,text,text,text) to graph_auditor;
grant execute on function audit.columns_of(oid,text,text,text) to graph_helper;

create view audit.comment_lines with (security_invoker=true) as -- 8913e8c53108
grant select on audit.comment_lines to graph_admin;
grant select on audit.comment_lines to graph_auditor;

CREATE OR REPLACE FUNCTION audit.compares_organization(expression text) -- 9e38ed36ae7f
grant execute on function audit.compares_organization(text) to graph_admin;
grant execute on function audit.compares_organization(text) to graph_auditor;

CREATE OR REPLACE FUNCTION audit.condition_of(relation regclass, value jsonb) -- aa529104f92e
grant execute on function audit.condition_of(regclass,jsonb) to graph_admin;

CREATE OR REPLACE FUNCTION audit.conjuncts(expression text) -- 20934a3cec9d
grant execute on function audit.conjuncts(text) to graph_admin;
grant execute on function audit.conjuncts(text) to graph_auditor;

CREATE OR REPLACE FUNCTION audit.create_partition(month timestamp with time zone) -- b21592a937d4

CREATE OR REPLACE FUNCTION audit.create_partitions() -- 58e536dd17f7

CREATE OR REPLACE FUNCTION audit.entry_of(known audit.recorded_columns, old_value jsonb, new_value jsonb) -- eef99d8d10a7
grant execute on function audit.entry_of(audit.recorded_columns,jsonb,jsonb) to graph_helper;

CREATE OR REPLACE FUNCTION audit.erase_person() -- 15dc1931e788
alter function audit.erase_person() owner to graph_helper;

CREATE OR REPLACE FUNCTION audit.explain_access(principal text, relation regclass, key text) -- 31bbfa9e9aa5
grant execute on function audit.explain_access(text,regclass,text) to graph_admin;

CREATE OR REPLACE FUNCTION audit.explain_decision(principal text, question jsonb, at timestamp with time zone DEFAULT NULL::timestamp with time zone) -- caf8e027ed6d
grant execute on function audit.explain_decision(text,jsonb,timestamp with time zone) to graph_admin;

CREATE OR REPLACE FUNCTION audit.find_principal(principal text) -- 6a819ebf8b3b
grant execute on function audit.find_principal(text) to graph_admin;

CREATE OR REPLACE FUNCTION audit.find_row(relation regclass, key text) -- ee184bfb9033
grant execute on function audit.find_row(regclass,text) to graph_admin;

create view audit.findings with (security_invoker=true) as -- ab78de71039f
grant select on audit.findings to graph_admin;
grant select on audit.findings to graph_auditor;

create view audit.functions with (security_invoker=true) as -- f2faac925a09
grant select on audit.functions to graph_admin;
grant select on audit.functions to graph_auditor;

create view audit.graph_lints with (security_invoker=true) as -- fff1923d4c07
grant select on audit.graph_lints to graph_admin;
grant select on audit.graph_lints to graph_auditor;

CREATE OR REPLACE FUNCTION audit.guard_partition(partition regclass) -- 3bfe300efbf2

CREATE OR REPLACE FUNCTION audit.hash_of(object text, who text) -- 7744e372cbc3
grant execute on function audit.hash_of(text,text) to graph_admin;

CREATE OR REPLACE FUNCTION audit.holds(principal audit.principals, relation regclass, value jsonb, expression text) -- d797b560e096
grant execute on function audit.holds(audit.principals,regclass,jsonb,text) to graph_admin;

create table audit.invariants ( -- 6b164ed7f48e
  name text not null,
  relation text default '*'::text not null,
  commands text[] default '{select,insert,update,delete,truncate}'::text[] not null,
  roles text[],
  columns text[] default '{}'::text[] not null,
  expression text not null,
  rule text not null
);
alter table audit.invariants enable row level security, force row level security;
grant delete, insert, select, update on audit.invariants to graph_admin;
grant select on audit.invariants to graph_auditor;
alter table audit.invariants add constraint invariants_commands_known CHECK (commands <@ '{select,insert,update,delete,truncate}'::text[]);
alter table audit.invariants add constraint invariants_length CHECK (char_length(name) <= 200 AND char_length(relation) <= 200 AND char_length(expression) <= 10000);
alter table audit.invariants add constraint invariants_pkey PRIMARY KEY (name, relation);
alter table audit.invariants add constraint invariants_rule_text CHECK (char_length(rule) >= 1 AND char_length(rule) <= 2000);
create policy all_graph_admin on audit.invariants for all to graph_admin -- c0f466c358f3
create policy select_graph_auditor on audit.invariants for select to graph_auditor -- 77a0ae568161

CREATE OR REPLACE FUNCTION audit.is_always_true(expression text) -- d3336470f389
grant execute on function audit.is_always_true(text) to graph_admin;
grant execute on function audit.is_always_true(text) to graph_auditor;

CREATE OR REPLACE FUNCTION audit.is_as_shipped(function text, body text) -- d4d1864535bc
grant execute on function audit.is_as_shipped(text,text) to graph_admin;

CREATE OR REPLACE FUNCTION audit.judged(object text, who text) -- ac1086f051db
grant execute on function audit.judged(text,text) to graph_admin;

CREATE OR REPLACE FUNCTION audit.known_readers(relation regclass, value jsonb, role text) -- 5daebf73d0b4
grant execute on function audit.known_readers(regclass,jsonb,text) to graph_admin;

create view audit.lent_roles with (security_invoker=true) as -- ef1fbf705582
grant select on audit.lent_roles to graph_admin;
grant select on audit.lent_roles to graph_auditor;

CREATE OR REPLACE FUNCTION audit.let_find(relation regclass, role text) -- ef31bb338c28
grant execute on function audit.let_find(regclass,text) to graph_admin;

create view audit.lints with (security_invoker=true) as -- 7fbdaef699bf
grant select on audit.lints to graph_admin;
grant select on audit.lints to graph_auditor;

create view audit.matrix with (security_invoker=true) as -- d0c7c5e8e8bf
grant select on audit.matrix to graph_admin;
grant select on audit.matrix to graph_auditor;

create view audit.move_lints with (security_invoker=true) as -- f8eb39e97724
grant select on audit.move_lints to graph_admin;
grant select on audit.move_lints to graph_auditor;

create view audit.moved_tables with (security_invoker=true) as -- cc44d9370452
grant select on audit.moved_tables to graph_admin;
grant select on audit.moved_tables to graph_auditor;

CREATE OR REPLACE FUNCTION audit.note_hash() -- 688c283dd0b2
grant execute on function audit.note_hash() to graph_admin;

CREATE OR REPLACE FUNCTION audit.outside_subqueries(expression text) -- 194890fbd44a
grant execute on function audit.outside_subqueries(text) to graph_admin;
grant execute on function audit.outside_subqueries(text) to graph_auditor;

create view audit.partitions with (security_invoker=true) as -- 43c4c11391e9
grant select on audit.partitions to graph_admin;
grant select on audit.partitions to graph_auditor;

CREATE OR REPLACE FUNCTION audit.partitions_of(parent regclass) -- ee1af44295b0
grant execute on function audit.partitions_of(regclass) to graph_admin;
grant execute on function audit.partitions_of(regclass) to graph_auditor;

CREATE OR REPLACE FUNCTION audit.parts_without_organization(policy oid) -- c2f4622e4e37
grant execute on function audit.parts_without_organization(oid) to graph_admin;
grant execute on function audit.parts_without_organization(oid) to graph_auditor;

create view audit.policies with (security_invoker=true) as -- a158430b5f26
grant select on audit.policies to graph_admin;
grant select on audit.policies to graph_auditor;

create view audit.principals with (security_invoker=true) as -- 7eb969480975
grant select on audit.principals to graph_admin;

CREATE OR REPLACE FUNCTION audit.reason_of(principal audit.principals, relation regclass, value jsonb) -- bc60c47df329
grant execute on function audit.reason_of(audit.principals,regclass,jsonb) to graph_admin;

CREATE OR REPLACE FUNCTION audit.rebuild(at timestamp with time zone, organization_id uuid) -- 4fa5af805baf
grant execute on function audit.rebuild(timestamp with time zone,uuid) to graph_admin;

CREATE OR REPLACE FUNCTION audit.record(relation regclass, subject_id name DEFAULT NULL::name, row_id name DEFAULT NULL::name, secrets name[] DEFAULT NULL::name[], derived name[] DEFAULT NULL::name[]) -- 2c85fef058a7

CREATE OR REPLACE FUNCTION audit.record_read(relation text, share double precision) -- 9302f10529ed
alter function audit.record_read(text,double precision) owner to graph_helper;

CREATE OR REPLACE FUNCTION audit.record_reads(relation regclass, share double precision DEFAULT 1) -- 497e9a7aee33
grant execute on function audit.record_reads(regclass,double precision) to graph_admin;

CREATE OR REPLACE FUNCTION audit.record_row() -- 485da5fe45e4
alter function audit.record_row() owner to graph_helper;

CREATE OR REPLACE FUNCTION audit.record_rows() -- 77873bb63d14
alter function audit.record_rows() owner to graph_helper;

CREATE OR REPLACE FUNCTION audit.record_updates() -- 138cd88d4320
alter function audit.record_updates() owner to graph_helper;

create view audit.recorded with (security_invoker=true) as -- 328cde8cc79f
grant select on audit.recorded to graph_admin;
grant select on audit.recorded to graph_auditor;

create type audit.recorded_columns as ( -- 9d3c317ad63a
  secrets text[],
  derived text[],
  subject text,
  key text[],
  is_plain boolean
);

CREATE OR REPLACE FUNCTION audit.recorded_values(value record) -- bf314293836d
grant execute on function audit.recorded_values(record) to graph_helper;

CREATE OR REPLACE FUNCTION audit.refill(source audit.recorded, at timestamp with time zone, organization_id uuid) -- c54924dec5f5
grant execute on function audit.refill(audit.recorded,timestamp with time zone,uuid) to graph_admin;

create view audit.relations with (security_invoker=true) as -- a9787c7bb0db
grant select on audit.relations to graph_admin;
grant select on audit.relations to graph_auditor;

create view audit.request_roles with (security_invoker=true) as -- ac7c414697f8
grant select on audit.request_roles to graph_admin;
grant select on audit.request_roles to graph_auditor;
grant select on audit.request_roles to graph_helper;

CREATE OR REPLACE FUNCTION audit.retention() -- 039481cfa6b4
grant execute on function audit.retention() to graph_admin;
grant execute on function audit.retention() to graph_auditor;

create view audit.right_lints with (security_invoker=true) as -- dd549935f282
grant select on audit.right_lints to graph_admin;
grant select on audit.right_lints to graph_auditor;

create view audit.rights with (security_invoker=true) as -- e52a462ebb96
grant select on audit.rights to graph_admin;
grant select on audit.rights to graph_auditor;

CREATE OR REPLACE FUNCTION audit.rights_in(statement text) -- ea0d10d95930
grant execute on function audit.rights_in(text) to graph_admin;
grant execute on function audit.rights_in(text) to graph_helper;

create view audit.roles with (security_invoker=true) as -- 7f508a707b1d
grant select on audit.roles to graph_admin;
grant select on audit.roles to graph_auditor;

create table audit.seals ( -- aeca828c9baa
  number bigint not null,
  sealed_at timestamp with time zone not null,
  retention interval not null,
  until bigint not null,
  ids int8multirange not null,
  pending int8multirange not null,
  marks bytea not null,
  head bytea not null
);
alter table audit.seals enable row level security, force row level security;
grant insert, select on audit.seals to graph_admin;
grant select on audit.seals to graph_auditor;
alter table audit.seals add constraint seals_pkey PRIMARY KEY (number);
create policy insert_graph_admin on audit.seals for insert to graph_admin -- cab3b3484634
create policy select_graph_admin on audit.seals for select to graph_admin -- 8104fb3513e7
create policy select_graph_auditor on audit.seals for select to graph_auditor -- be415051e79e

CREATE OR REPLACE FUNCTION audit.seeing(relation regclass, value jsonb, role text) -- e8c3730ed03a
grant execute on function audit.seeing(regclass,jsonb,text) to graph_admin;

CREATE OR REPLACE FUNCTION audit.shape_of(relation oid) -- 49683123b5f6
grant execute on function audit.shape_of(oid) to graph_admin;
grant execute on function audit.shape_of(oid) to graph_auditor;
grant execute on function audit.shape_of(oid) to graph_helper;

create view audit.smart_tags with (security_invoker=true) as -- ba9640c0c021
grant select on audit.smart_tags to graph_admin;
grant select on audit.smart_tags to graph_auditor;

create view audit.unaccepted_rights with (security_invoker=true) as -- 6612224c4cde
grant select on audit.unaccepted_rights to graph_admin;
grant select on audit.unaccepted_rights to graph_auditor;

CREATE OR REPLACE FUNCTION audit.unused(since date) -- dcf8487aa412
grant execute on function audit.unused(date) to graph_admin;

create table audit.uses ( -- 93289dc3b156
  role text not null,
  command text not null,
  object text not null,
  part text not null,
  used_on date default CURRENT_DATE not null
);
alter table audit.uses enable row level security, force row level security;
grant select on audit.uses to graph_admin;
grant select on audit.uses to graph_auditor;
grant insert (role, command, object, part), select, update (used_on) on audit.uses to graph_helper;
alter table audit.uses add constraint uses_length CHECK (char_length(role) <= 63 AND char_length(command) <= 10 AND char_length(object) <= 200 AND char_length(part) <= 63);
alter table audit.uses add constraint uses_pkey PRIMARY KEY (role, command, object, part);
create policy insert_graph_helper on audit.uses for insert to graph_helper -- fff746f6ee03
create policy select_graph_admin on audit.uses for select to graph_admin -- 35f17bef866b
create policy select_graph_auditor on audit.uses for select to graph_auditor -- 429590446f5e
create policy select_graph_helper on audit.uses for select to graph_helper -- a34193f0c8a3
create policy update_graph_helper on audit.uses for update to graph_helper -- e1a1e281f19b

CREATE OR REPLACE FUNCTION audit.visible(principal text) -- b3f468507aa4
grant execute on function audit.visible(text) to graph_admin;

CREATE OR REPLACE FUNCTION audit.visible_at(principal text, at timestamp with time zone) -- 95ac57c5e195
grant execute on function audit.visible_at(text,timestamp with time zone) to graph_admin;

CREATE OR REPLACE FUNCTION audit.who_can(relation regclass, key text) -- 17b33fe0e5e4
grant execute on function audit.who_can(regclass,text) to graph_admin;

CREATE OR REPLACE FUNCTION audit.who_could(relation regclass, key text, at timestamp with time zone) -- 97f3ec8f5d7f
grant execute on function audit.who_could(regclass,text,timestamp with time zone) to graph_admin;

-- Default privileges on functions of current_user:
grant execute on functions to current_user;

create schema feed; -- 1b1dfa84a695
grant usage on schema feed to graph_admin;
grant usage on schema feed to graph_app;
grant usage on schema feed to graph_helper;
grant usage on schema feed to graph_oauth;
grant usage on schema feed to graph_purger;
grant usage on schema feed to graph_worker;

CREATE OR REPLACE FUNCTION feed.changed_since(organizations uuid[], horizons xid8[], ids bigint[]) -- 095d0d8cbe2f
alter function feed.changed_since(uuid[],xid8[],bigint[]) owner to graph_helper;
grant execute on function feed.changed_since(uuid[],xid8[],bigint[]) to graph_oauth;

create table feed.changes ( -- ea6014bc3b50
  id bigint generated always as identity not null,
  origin bigint not null,
  horizon xid8 not null,
  at timestamp with time zone default clock_timestamp() not null,
  organization_id uuid not null,
  relation text not null,
  type text,
  key text[] not null,
  operation text not null,
  columns text[] not null,
  related jsonb
)
partition by RANGE (at);
alter table feed.changes enable row level security, force row level security;
grant select on feed.changes to graph_admin;
grant select on feed.changes to graph_app;
grant insert (origin, horizon, organization_id, relation, type, key, operation, columns, related), select (id, origin, horizon, at, organization_id, relation) on feed.changes to graph_helper;
grant select on feed.changes to graph_worker;
alter table feed.changes add constraint changes_pkey PRIMARY KEY (organization_id, horizon, id, at);
create policy insert_graph_helper on feed.changes for insert to graph_helper -- b34cae3a92ff
create policy select_graph_admin on feed.changes for select to graph_admin -- c0298cdaea8b
create policy select_graph_app on feed.changes for select to graph_app -- f5a2efb5322d
create policy select_graph_helper on feed.changes for select to graph_helper -- b8b21e9524e7
create policy select_graph_worker on feed.changes for select to graph_worker -- a03ae71e69ea

CREATE OR REPLACE FUNCTION feed.changes_after(after_horizon xid8, after_id bigint, max_rows integer) -- 1280ef152244
grant execute on function feed.changes_after(xid8,bigint,integer) to graph_admin;
grant execute on function feed.changes_after(xid8,bigint,integer) to graph_app;
grant execute on function feed.changes_after(xid8,bigint,integer) to graph_worker;

-- A partition of feed.changes: DEFAULT.
create table feed.changes_default (
  id bigint generated always as identity not null,
  origin bigint not null,
  horizon xid8 not null,
  at timestamp with time zone default clock_timestamp() not null,
  organization_id uuid not null,
  relation text not null,
  type text,
  key text[] not null,
  operation text not null,
  columns text[] not null,
  related jsonb
);
alter table feed.changes_default enable row level security, force row level security;
alter table feed.changes_default add constraint changes_default_pkey PRIMARY KEY (organization_id, horizon, id, at);
create policy select_graph_admin on feed.changes_default for select to graph_admin -- 3a982d4f3ffc

CREATE OR REPLACE FUNCTION feed.create_partition(day date) -- 999827053ec8

CREATE OR REPLACE FUNCTION feed.due_webhooks(max_rows integer) -- 232cf866e1a7
grant execute on function feed.due_webhooks(integer) to graph_worker;

CREATE OR REPLACE FUNCTION feed.entries_of(given text[], ignored text[], identifying text[], old_value jsonb, new_value jsonb) -- bfb03b3ccb4a
grant execute on function feed.entries_of(text[],text[],text[],jsonb,jsonb) to graph_helper;

CREATE OR REPLACE FUNCTION feed.follow(followed regclass, shown regclass DEFAULT NULL::regclass, ignored name[] DEFAULT NULL::name[]) -- e686db60678c

CREATE OR REPLACE FUNCTION feed.followed() -- 28635394c165
grant execute on function feed.followed() to graph_app;

CREATE OR REPLACE FUNCTION feed.identifying(relation oid, names text[]) -- 70c20c84eb3d
grant execute on function feed.identifying(oid,text[]) to graph_helper;

CREATE OR REPLACE FUNCTION feed.ignored(relation oid, given text) -- efab98351dde
grant execute on function feed.ignored(oid,text) to graph_helper;

CREATE OR REPLACE FUNCTION feed.last_change() -- 3066ef5380bd
grant execute on function feed.last_change() to graph_admin;
grant execute on function feed.last_change() to graph_app;
grant execute on function feed.last_change() to graph_worker;

CREATE OR REPLACE FUNCTION feed.next_horizon(organization_ids uuid[]) -- b0ce40e2f025
grant execute on function feed.next_horizon(uuid[]) to graph_helper;

CREATE OR REPLACE FUNCTION feed.oldest() -- 948376881e49
grant execute on function feed.oldest() to graph_admin;
grant execute on function feed.oldest() to graph_app;
grant execute on function feed.oldest() to graph_helper;
grant execute on function feed.oldest() to graph_worker;

CREATE OR REPLACE FUNCTION feed.origin() -- c9efbfc80117
grant execute on function feed.origin() to graph_admin;
grant execute on function feed.origin() to graph_app;
grant execute on function feed.origin() to graph_helper;
grant execute on function feed.origin() to graph_worker;

CREATE OR REPLACE FUNCTION feed."position"() -- 094b936fb464
grant execute on function feed."position"() to graph_admin;
grant execute on function feed."position"() to graph_app;
grant execute on function feed."position"() to graph_worker;

CREATE OR REPLACE FUNCTION feed.record_row() -- 0afdc1d27b06
alter function feed.record_row() owner to graph_helper;

CREATE OR REPLACE FUNCTION feed.record_rows() -- 7ee0b3acb794
alter function feed.record_rows() owner to graph_helper;

CREATE OR REPLACE FUNCTION feed.record_updates() -- 49f4482dc62a
alter function feed.record_updates() owner to graph_helper;

CREATE OR REPLACE FUNCTION feed.retention() -- 8b3855179765
grant execute on function feed.retention() to graph_admin;
grant execute on function feed.retention() to graph_app;
grant execute on function feed.retention() to graph_helper;
grant execute on function feed.retention() to graph_purger;
grant execute on function feed.retention() to graph_worker;

CREATE OR REPLACE FUNCTION feed.rotate_partitions() -- dfff86b203ea
grant execute on function feed.rotate_partitions() to graph_admin;
grant execute on function feed.rotate_partitions() to graph_oauth;

create schema oauth; -- 858afaafba82
grant usage on schema oauth to graph_admin;
grant usage on schema oauth to graph_app;
grant usage on schema oauth to graph_helper;
grant usage on schema oauth to graph_oauth;
grant usage on schema oauth to graph_purger;

create table oauth.access_tokens ( -- f85842e2ad43
  organization_id uuid not null,
  token_hash bytea not null,
  grant_id uuid not null,
  scopes text[] not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null
)
with (autovacuum_vacuum_scale_factor=0.02);
alter table oauth.access_tokens enable row level security, force row level security;
grant delete, insert, select, update on oauth.access_tokens to graph_admin;
grant select on oauth.access_tokens to graph_helper;
grant delete, insert, select, update on oauth.access_tokens to graph_oauth;
grant delete, select (organization_id, token_hash, grant_id, expires_at) on oauth.access_tokens to graph_purger;
alter table oauth.access_tokens add constraint access_tokens_grant_id_fkey FOREIGN KEY (organization_id, grant_id) REFERENCES oauth.grants(organization_id, id) ON DELETE CASCADE;
alter table oauth.access_tokens add constraint access_tokens_pkey PRIMARY KEY (token_hash, organization_id);
alter table oauth.access_tokens add constraint access_tokens_scopes_known CHECK (cardinality(scopes) > 0 AND scopes <@ '{app,basic,me}'::text[]);
alter table oauth.access_tokens add constraint access_tokens_token_hash_length CHECK (octet_length(token_hash) = 32);
CREATE INDEX access_tokens_expires_at_idx ON oauth.access_tokens USING btree (expires_at);
CREATE INDEX access_tokens_grant_id_idx ON oauth.access_tokens USING btree (organization_id, grant_id, expires_at);
create policy all_graph_admin on oauth.access_tokens for all to graph_admin -- 7a0b0d459d4e
create policy all_graph_oauth on oauth.access_tokens for all to graph_oauth -- 78edcd5db2a6
create policy delete_graph_purger on oauth.access_tokens for delete to graph_purger -- bc86c727d5a9
create policy select_graph_helper on oauth.access_tokens for select to graph_helper -- af66a1f03a97
create policy select_graph_purger on oauth.access_tokens for select to graph_purger -- e9213353da3c

create table oauth.application_secrets ( -- 55aca2e0dfb0
  organization_id uuid not null,
  application_id uuid not null,
  secret_hash bytea not null,
  created_at timestamp with time zone default clock_timestamp() not null
);
alter table oauth.application_secrets enable row level security, force row level security;
grant delete, insert, select, update on oauth.application_secrets to graph_admin;
grant select on oauth.application_secrets to graph_helper;
alter table oauth.application_secrets add constraint application_secrets_application_id_fkey FOREIGN KEY (organization_id, application_id) REFERENCES oauth.applications(organization_id, id) ON DELETE CASCADE;
alter table oauth.application_secrets add constraint application_secrets_pkey PRIMARY KEY (organization_id, application_id, secret_hash);
alter table oauth.application_secrets add constraint application_secrets_secret_hash_length CHECK (octet_length(secret_hash) = 32);
create policy all_graph_admin on oauth.application_secrets for all to graph_admin -- e8d7da65f4a6
create policy select_graph_helper on oauth.application_secrets for select to graph_helper -- ac29ff659556
CREATE TRIGGER audit_columns AFTER UPDATE OF application_id, secret_hash ON oauth.application_secrets FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TRIGGER audit_delete AFTER DELETE ON oauth.application_secrets REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('bs', '-5678684519591279097', '({secret_hash},{},application_id,{application_id},t)');
CREATE TRIGGER audit_insert AFTER INSERT ON oauth.application_secrets REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('bs', '-5678684519591279097', '({secret_hash},{},application_id,{application_id},t)');
CREATE TRIGGER audit_update AFTER UPDATE ON oauth.application_secrets FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_row('bs', '-5678684519591279097', '({secret_hash},{},application_id,{application_id},t)');

create table oauth.applications ( -- 540ba892685a
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  name text not null,
  client_id text not null,
  confidential boolean default true not null,
  scopes text[] default '{app}'::text[] not null,
  redirect_uris text[] default '{}'::text[] not null,
  mobile_app_authentication_type text,
  disabled_at timestamp with time zone
);
alter table oauth.applications enable row level security, force row level security;
grant delete, insert, select, update on oauth.applications to graph_admin;
grant select (organization_id, id, name) on oauth.applications to graph_app;
grant select on oauth.applications to graph_helper;
grant select on oauth.applications to graph_oauth;
alter table oauth.applications add constraint applications_client_id_format CHECK (client_id ~ '^[\x21-\x7e]{1,200}$'::text AND client_id !~ ':'::text);
alter table oauth.applications add constraint applications_client_id_key UNIQUE (client_id);
alter table oauth.applications add constraint applications_mobile_app_authentication_type_known CHECK (mobile_app_authentication_type = ANY (ARRAY['password'::text, 'external_authentication_token'::text]));
alter table oauth.applications add constraint applications_name_text CHECK (app_hidden.is_text(name));
alter table oauth.applications add constraint applications_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES app_hidden.organizations(id);
alter table oauth.applications add constraint applications_pkey PRIMARY KEY (organization_id, id);
alter table oauth.applications add constraint applications_redirect_uris_length CHECK (cardinality(redirect_uris) <= 50 AND char_length(array_to_string(redirect_uris, ''::text)) <= 50000);
alter table oauth.applications add constraint applications_scopes_confidential CHECK (confidential OR scopes <@ '{me}'::text[]);
alter table oauth.applications add constraint applications_scopes_known CHECK (cardinality(scopes) > 0 AND scopes <@ '{app,basic,me}'::text[]);
create policy all_graph_admin on oauth.applications for all to graph_admin -- a80882793642
create policy select_graph_app on oauth.applications for select to graph_app -- 1f0d9a72d194
create policy select_graph_helper on oauth.applications for select to graph_helper -- d85a0bb47b5f
create policy select_graph_oauth on oauth.applications for select to graph_oauth -- 933fd3a2f2ea
CREATE TRIGGER audit_delete AFTER DELETE ON oauth.applications REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('', '-730563068736159760', '({},{},,{id},t)');
CREATE TRIGGER audit_insert AFTER INSERT ON oauth.applications REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('', '-730563068736159760', '({},{},,{id},t)');
CREATE TRIGGER audit_update AFTER UPDATE ON oauth.applications FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_row('', '-730563068736159760', '({},{},,{id},t)');

create table oauth.authorization_codes ( -- a2489d70ae78
  organization_id uuid not null,
  code_hash bytea not null,
  application_id uuid not null,
  user_id uuid not null,
  scopes text[] not null,
  redirect_uri text not null,
  code_challenge text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  grant_id uuid
)
with (autovacuum_vacuum_scale_factor=0.02);
alter table oauth.authorization_codes enable row level security, force row level security;
grant delete, insert, select, update on oauth.authorization_codes to graph_admin;
grant delete, insert, select, update on oauth.authorization_codes to graph_oauth;
grant delete, select (organization_id, code_hash, expires_at), update (code_hash) on oauth.authorization_codes to graph_purger;
alter table oauth.authorization_codes add constraint authorization_codes_application_id_fkey FOREIGN KEY (organization_id, application_id) REFERENCES oauth.applications(organization_id, id) ON DELETE CASCADE;
alter table oauth.authorization_codes add constraint authorization_codes_code_challenge_format CHECK (code_challenge ~ '^[A-Za-z0-9_-]{43}$'::text);
alter table oauth.authorization_codes add constraint authorization_codes_code_hash_length CHECK (octet_length(code_hash) = 32);
alter table oauth.authorization_codes add constraint authorization_codes_grant_id_fkey FOREIGN KEY (organization_id, grant_id) REFERENCES oauth.grants(organization_id, id) ON DELETE CASCADE;
alter table oauth.authorization_codes add constraint authorization_codes_pkey PRIMARY KEY (code_hash, organization_id);
alter table oauth.authorization_codes add constraint authorization_codes_redirect_uri_length CHECK (char_length(redirect_uri) <= 2000);
alter table oauth.authorization_codes add constraint authorization_codes_scopes_known CHECK (scopes <@ '{me}'::text[] AND cardinality(scopes) > 0);
alter table oauth.authorization_codes add constraint authorization_codes_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES app_public.users(organization_id, id) ON DELETE CASCADE;
CREATE INDEX authorization_codes_application_id_idx ON oauth.authorization_codes USING btree (organization_id, application_id);
CREATE INDEX authorization_codes_expires_at_idx ON oauth.authorization_codes USING btree (expires_at);
CREATE INDEX authorization_codes_grant_id_idx ON oauth.authorization_codes USING btree (organization_id, grant_id);
CREATE INDEX authorization_codes_user_id_idx ON oauth.authorization_codes USING btree (organization_id, user_id);
create policy all_graph_admin on oauth.authorization_codes for all to graph_admin -- 91dfe4887d19
create policy all_graph_oauth on oauth.authorization_codes for all to graph_oauth -- 969becf4d62d
create policy delete_graph_purger on oauth.authorization_codes for delete to graph_purger -- ed7bb07b7406
create policy select_graph_purger on oauth.authorization_codes for select to graph_purger -- 5008d0a3a850
create policy update_graph_purger on oauth.authorization_codes for update to graph_purger -- 5ae1a6ae3eb2

create table oauth.consents ( -- d6de897cb4d7
  organization_id uuid not null,
  consent_hash bytea not null,
  sid text not null,
  request_hash bytea not null,
  expires_at timestamp with time zone not null
);
alter table oauth.consents enable row level security, force row level security;
grant delete, insert, select, update on oauth.consents to graph_admin;
grant delete, insert, select on oauth.consents to graph_oauth;
alter table oauth.consents add constraint consents_consent_hash_length CHECK (octet_length(consent_hash) = 32);
alter table oauth.consents add constraint consents_pkey PRIMARY KEY (consent_hash, organization_id);
alter table oauth.consents add constraint consents_request_hash_length CHECK (octet_length(request_hash) = 32);
alter table oauth.consents add constraint consents_sid_fkey FOREIGN KEY (sid, organization_id) REFERENCES oauth.sessions(sid, organization_id) ON DELETE CASCADE;
CREATE INDEX consents_sid_idx ON oauth.consents USING btree (sid, organization_id, expires_at);
create policy all_graph_admin on oauth.consents for all to graph_admin -- e27a82a5b126
create policy all_graph_oauth on oauth.consents for all to graph_oauth -- 580b3595e637

create table oauth.credentials ( -- 5dc61e5788fc
  organization_id uuid not null,
  user_id uuid not null,
  password_hash text,
  disabled_at timestamp with time zone
);
alter table oauth.credentials enable row level security, force row level security;
grant delete, insert, select, update on oauth.credentials to graph_admin;
grant select (organization_id, user_id, disabled_at) on oauth.credentials to graph_helper;
grant select, update (password_hash) on oauth.credentials to graph_oauth;
alter table oauth.credentials add constraint credentials_password_hash_argon2id CHECK (password_hash ~ '^\$argon2id\$'::text AND char_length(password_hash) <= 500);
alter table oauth.credentials add constraint credentials_pkey PRIMARY KEY (organization_id, user_id);
alter table oauth.credentials add constraint credentials_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES app_public.users(organization_id, id) ON DELETE CASCADE;
create policy all_graph_admin on oauth.credentials for all to graph_admin -- 44d09eb7a52e
create policy select_graph_helper on oauth.credentials for select to graph_helper -- e38ebf2d6891
create policy select_graph_oauth on oauth.credentials for select to graph_oauth -- 14e0b07eb98d
create policy update_graph_oauth on oauth.credentials for update to graph_oauth -- 38c599fe8ada
CREATE TRIGGER audit_columns AFTER UPDATE OF user_id, password_hash ON oauth.credentials FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TRIGGER audit_delete AFTER DELETE ON oauth.credentials REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ps', '3619784949155309125', '({password_hash},{},user_id,{user_id},t)');
CREATE TRIGGER audit_insert AFTER INSERT ON oauth.credentials REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ps', '3619784949155309125', '({password_hash},{},user_id,{user_id},t)');
CREATE TRIGGER audit_update AFTER UPDATE ON oauth.credentials FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_row('ps', '3619784949155309125', '({password_hash},{},user_id,{user_id},t)');

CREATE OR REPLACE FUNCTION oauth.find_application(client_id text) -- 937afc2630f3
alter function oauth.find_application(text) owner to graph_helper;
grant execute on function oauth.find_application(text) to graph_oauth;

create table oauth.grants ( -- 908c03f6e84a
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  application_id uuid not null,
  user_id uuid,
  grant_type text not null,
  scopes text[] not null,
  client_authentication text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  written_lsn pg_lsn
);
alter table oauth.grants enable row level security, force row level security;
grant delete, insert, select, update on oauth.grants to graph_admin;
grant select on oauth.grants to graph_helper;
grant delete, insert, select, update on oauth.grants to graph_oauth;
grant delete, select (organization_id, id), update (id) on oauth.grants to graph_purger;
alter table oauth.grants add constraint grants_application_id_fkey FOREIGN KEY (organization_id, application_id) REFERENCES oauth.applications(organization_id, id) ON DELETE CASCADE;
alter table oauth.grants add constraint grants_client_authentication_known CHECK (client_authentication = ANY (ARRAY['none'::text, 'secret'::text]));
alter table oauth.grants add constraint grants_grant_type_known CHECK (grant_type = ANY (ARRAY['client_credentials'::text, 'password'::text, 'authorization_code'::text]));
alter table oauth.grants add constraint grants_pkey PRIMARY KEY (organization_id, id);
alter table oauth.grants add constraint grants_scopes_known CHECK (cardinality(scopes) > 0 AND scopes <@ '{app,basic,me}'::text[]);
alter table oauth.grants add constraint grants_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES app_public.users(organization_id, id) ON DELETE CASCADE;
alter table oauth.grants add constraint grants_user_id_scopes CHECK ((user_id IS NULL) = (grant_type = 'client_credentials'::text) AND (user_id IS NULL) = (NOT ('me'::text = ANY (scopes))));
CREATE INDEX grants_application_id_idx ON oauth.grants USING btree (organization_id, application_id);
CREATE UNIQUE INDEX grants_application_id_scopes_key ON oauth.grants USING btree (organization_id, application_id, scopes) WHERE user_id IS NULL;
CREATE INDEX grants_user_id_idx ON oauth.grants USING btree (organization_id, user_id) WHERE user_id IS NOT NULL;
create policy all_graph_admin on oauth.grants for all to graph_admin -- 72ef4c361130
create policy all_graph_oauth on oauth.grants for all to graph_oauth -- cbd77a99df8b
create policy delete_graph_purger on oauth.grants for delete to graph_purger -- 0db116ccbd9f
create policy select_graph_helper on oauth.grants for select to graph_helper -- cc65c3d61b77
create policy select_graph_purger on oauth.grants for select to graph_purger -- 57b0a0de7380
create policy update_graph_purger on oauth.grants for update to graph_purger -- 1968d8705230
CREATE TRIGGER audit_columns AFTER UPDATE OF user_id, written_lsn ON oauth.grants FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TRIGGER audit_delete AFTER DELETE ON oauth.grants REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('pd', '427616661803270137', '({},{written_lsn},user_id,{id},t)');
CREATE TRIGGER audit_insert AFTER INSERT ON oauth.grants REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('pd', '427616661803270137', '({},{written_lsn},user_id,{id},t)');
CREATE TRIGGER audit_update AFTER UPDATE ON oauth.grants FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_row('pd', '427616661803270137', '({},{written_lsn},user_id,{id},t)');

create view oauth.live_access_tokens with (security_invoker=true) as -- 55d6bc256c4d
grant select on oauth.live_access_tokens to graph_admin;
grant select on oauth.live_access_tokens to graph_helper;

CREATE OR REPLACE FUNCTION oauth.note_uses(roles text[], statements text[]) -- 5aeda2c70fce
alter function oauth.note_uses(text[],text[]) owner to graph_helper;
grant execute on function oauth.note_uses(text[],text[]) to graph_admin;
grant execute on function oauth.note_uses(text[],text[]) to graph_oauth;

CREATE OR REPLACE FUNCTION oauth.partition_state() -- 9be8288afdec
grant execute on function oauth.partition_state() to graph_admin;
grant execute on function oauth.partition_state() to graph_auditor;
grant execute on function oauth.partition_state() to graph_oauth;

CREATE OR REPLACE FUNCTION oauth.purge_changes(batch integer) -- a15ebc7f2392
grant execute on function oauth.purge_changes(integer) to graph_admin;
grant execute on function oauth.purge_changes(integer) to graph_oauth;

CREATE OR REPLACE FUNCTION oauth.purge_rows(kind text, batch integer) -- a19ec58a5036
alter function oauth.purge_rows(text,integer) owner to graph_purger;
grant execute on function oauth.purge_rows(text,integer) to graph_admin;
grant execute on function oauth.purge_rows(text,integer) to graph_oauth;

CREATE OR REPLACE FUNCTION oauth.purge_tokens(batch integer) -- 76496fd7ad25
alter function oauth.purge_tokens(integer) owner to graph_purger;
grant execute on function oauth.purge_tokens(integer) to graph_admin;
grant execute on function oauth.purge_tokens(integer) to graph_oauth;

create table oauth.refresh_tokens ( -- 7e88e5d7079e
  organization_id uuid not null,
  token_hash bytea not null,
  grant_id uuid not null,
  scopes text[] not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  absolute_expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  successor_hash bytea,
  reply_ciphertext bytea
)
with (autovacuum_vacuum_scale_factor=0.02);
alter table oauth.refresh_tokens enable row level security, force row level security;
grant delete, insert, select, update on oauth.refresh_tokens to graph_admin;
grant delete, insert, select, update on oauth.refresh_tokens to graph_oauth;
grant delete, select (organization_id, token_hash, grant_id, expires_at) on oauth.refresh_tokens to graph_purger;
alter table oauth.refresh_tokens add constraint refresh_tokens_expires_at_range CHECK (expires_at <= absolute_expires_at);
alter table oauth.refresh_tokens add constraint refresh_tokens_grant_id_fkey FOREIGN KEY (organization_id, grant_id) REFERENCES oauth.grants(organization_id, id) ON DELETE CASCADE;
alter table oauth.refresh_tokens add constraint refresh_tokens_pkey PRIMARY KEY (token_hash, organization_id);
alter table oauth.refresh_tokens add constraint refresh_tokens_reply_ciphertext_length CHECK (octet_length(reply_ciphertext) <= 4096);
alter table oauth.refresh_tokens add constraint refresh_tokens_scopes_known CHECK (cardinality(scopes) > 0 AND scopes <@ '{app,basic,me}'::text[]);
alter table oauth.refresh_tokens add constraint refresh_tokens_successor_hash_length CHECK (octet_length(successor_hash) = 32);
alter table oauth.refresh_tokens add constraint refresh_tokens_token_hash_length CHECK (octet_length(token_hash) = 32);
alter table oauth.refresh_tokens add constraint refresh_tokens_used_whole CHECK ((used_at IS NULL) = (successor_hash IS NULL));
CREATE INDEX refresh_tokens_expires_at_idx ON oauth.refresh_tokens USING btree (expires_at);
CREATE INDEX refresh_tokens_grant_id_idx ON oauth.refresh_tokens USING btree (organization_id, grant_id, expires_at);
CREATE INDEX refresh_tokens_unused_idx ON oauth.refresh_tokens USING btree (organization_id, grant_id, created_at) WHERE used_at IS NULL;
create policy all_graph_admin on oauth.refresh_tokens for all to graph_admin -- 0561b744c875
create policy all_graph_oauth on oauth.refresh_tokens for all to graph_oauth -- 47c930b69098
create policy delete_graph_purger on oauth.refresh_tokens for delete to graph_purger -- 58a05fe5f8b5
create policy select_graph_purger on oauth.refresh_tokens for select to graph_purger -- 17b9cecfdebc

create table oauth.sessions ( -- 49343f723f7c
  organization_id uuid default app_hidden.current_organization_id() not null,
  sid text not null,
  sess jsonb not null,
  expire timestamp with time zone not null,
  user_id uuid generated always as ((sess ->> 'userId'::text)::uuid) stored not null
)
with (autovacuum_vacuum_scale_factor=0.02);
alter table oauth.sessions enable row level security, force row level security;
grant delete, insert, select, update on oauth.sessions to graph_admin;
grant delete, insert (organization_id, sid, sess, expire), select, update (sess, expire) on oauth.sessions to graph_oauth;
grant delete, select (organization_id, sid, expire), update (sid) on oauth.sessions to graph_purger;
alter table oauth.sessions add constraint sessions_pkey PRIMARY KEY (sid, organization_id);
alter table oauth.sessions add constraint sessions_sess_length CHECK (octet_length(sess::text) <= 2000);
alter table oauth.sessions add constraint sessions_sid_format CHECK (sid ~ '^[A-Za-z0-9_-]{43}$'::text);
alter table oauth.sessions add constraint sessions_sid_key UNIQUE (sid);
alter table oauth.sessions add constraint sessions_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES app_public.users(organization_id, id) ON DELETE CASCADE;
CREATE INDEX sessions_expire_idx ON oauth.sessions USING btree (expire);
CREATE INDEX sessions_user_id_idx ON oauth.sessions USING btree (organization_id, user_id);
create policy all_graph_admin on oauth.sessions for all to graph_admin -- e07e2e3051e4
create policy all_graph_oauth on oauth.sessions for all to graph_oauth -- 098a1740b611
create policy delete_graph_purger on oauth.sessions for delete to graph_purger -- c5f90a25a311
create policy select_graph_purger on oauth.sessions for select to graph_purger -- 596ef86e9faf
create policy update_graph_purger on oauth.sessions for update to graph_purger -- 1766586d3cfc

create unlogged table oauth.throttles ( -- 5e3faa8c4ad9
  key text not null,
  points integer not null,
  expire bigint
)
with (fillfactor=50);
alter table oauth.throttles enable row level security, force row level security;
grant delete, insert, select, update on oauth.throttles to graph_admin;
grant insert, select, update (points, expire) on oauth.throttles to graph_oauth;
grant delete, select (key, expire) on oauth.throttles to graph_purger;
alter table oauth.throttles add constraint throttles_key_format CHECK (key ~ '^[a-z_]{1,40}:[A-Za-z0-9_-]{43}$'::text);
alter table oauth.throttles add constraint throttles_pkey PRIMARY KEY (key);
create policy all_graph_admin on oauth.throttles for all to graph_admin -- c0ed1b742e2e
create policy delete_graph_purger on oauth.throttles for delete to graph_purger -- 0f8ee3616b86
create policy insert_graph_oauth on oauth.throttles for insert to graph_oauth -- 058b17ae7b6d
create policy select_graph_oauth on oauth.throttles for select to graph_oauth -- 197202985e35
create policy select_graph_purger on oauth.throttles for select to graph_purger -- 1ff431fdce90
create policy update_graph_oauth on oauth.throttles for update to graph_oauth -- 6baead775812

CREATE OR REPLACE FUNCTION oauth.verify_access_token(token_hash bytea) -- e7e60975a30d
alter function oauth.verify_access_token(bytea) owner to graph_helper;
grant execute on function oauth.verify_access_token(bytea) to graph_oauth;

CREATE OR REPLACE FUNCTION oauth.written_lsn(organization_id uuid, grant_id uuid) -- c37f0e4949fc
alter function oauth.written_lsn(uuid,uuid) owner to graph_helper;
grant execute on function oauth.written_lsn(uuid,uuid) to graph_oauth;
