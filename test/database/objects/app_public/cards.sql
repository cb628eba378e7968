create table app_public.cards (
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
  updated_at timestamp with time zone default now() not null,
  constraint cards_pkey PRIMARY KEY (organization_id, id),
  constraint cards_beacon_key UNIQUE (organization_id, proximity_uuid, major, minor) DEFERRABLE,
  constraint cards_external_identifier_key UNIQUE (organization_id, external_identifier),
  constraint cards_nfc_identifier_key UNIQUE (organization_id, nfc_identifier) DEFERRABLE,
  constraint cards_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES app_hidden.organizations(id),
  constraint cards_beacon CHECK (
CASE
    WHEN type = 'BeaconCard'::text THEN proximity_uuid IS NOT NULL AND major IS NOT NULL AND minor IS NOT NULL
    ELSE proximity_uuid IS NULL AND major IS NULL AND minor IS NULL
END),
  constraint cards_external_identifier_length CHECK (char_length(external_identifier) >= 1 AND char_length(external_identifier) <= 200),
  constraint cards_major_range CHECK (major >= 0 AND major <= 65535),
  constraint cards_minor_range CHECK (minor >= 0 AND minor <= 65535),
  constraint cards_name_text CHECK (app_hidden.is_text(name)),
  constraint cards_nfc CHECK ((type = 'NfcCard'::text) = (nfc_identifier IS NOT NULL)),
  constraint cards_nfc_identifier_format CHECK (nfc_identifier ~ '^([0-9A-F]{8}|[0-9A-F]{14}|[0-9A-F]{20})$'::text),
  constraint cards_type_known CHECK (type = ANY (ARRAY['BeaconCard'::text, 'NfcCard'::text, 'IdentificationCode'::text]))
);
comment on table app_public.cards is '@interface mode:single type:type
@name card
@type BeaconCard name:BeaconCard attributes:proximity_uuid!,major!,minor!
@type NfcCard name:NfcCard attributes:nfc_identifier!
@type IdentificationCode name:IdentificationCode
@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName cards|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All cards of the organization.
Something that opens for its holder.';
comment on column app_public.cards.type is '@behavior -*';
comment on column app_public.cards.name is 'Name.';
comment on column app_public.cards.proximity_uuid is 'Proximity UUID that the beacon advertises.';
comment on column app_public.cards.major is 'Major value of the beacon, 0 to 65535.';
comment on column app_public.cards.minor is 'Minor value of the beacon, 0 to 65535.';
comment on column app_public.cards.nfc_identifier is '@filter nfcIdentifiers upperCase
Identifier of the NFC chip: 4, 7 or 10 bytes in upper-case hex without separators.';
comment on column app_public.cards.external_identifier is 'Identifier that the client system assigns to the card; unique in the organization, compared exactly.';
comment on column app_public.cards.created_at is 'When the card was added.';
comment on column app_public.cards.updated_at is 'When the card was last changed.';

comment on constraint cards_beacon_key on app_public.cards is '@argument proximityUuid
@filter beacons {BeaconInput}
Another card has this proximity UUID, major and minor value.';

comment on constraint cards_external_identifier_key on app_public.cards is '@argument externalIdentifier
Another card has this external identifier.';

comment on constraint cards_external_identifier_length on app_public.cards is '@argument externalIdentifier
An external identifier has 1 to 200 characters.';

comment on constraint cards_major_range on app_public.cards is '@argument major
A major value is from 0 to 65535.';

comment on constraint cards_minor_range on app_public.cards is '@argument minor
A minor value is from 0 to 65535.';

comment on constraint cards_name_text on app_public.cards is '@argument name
A name has 1 to 200 characters and no control characters.';

comment on constraint cards_nfc_identifier_format on app_public.cards is '@argument nfcIdentifier
The identifier of an NFC chip has 4, 7 or 10 bytes in hex without separators, such as 04A224B2C13A80.';

comment on constraint cards_nfc_identifier_key on app_public.cards is '@argument nfcIdentifier
Another card has this NFC identifier.';

alter table app_public.cards enable row level security, force row level security;

CREATE INDEX cards_external_identifier_order_idx ON app_public.cards USING btree (organization_id, COALESCE(external_identifier, ''::text), id);

create policy all_graph_admin on app_public.cards for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on app_public.cards is 'Administration sees and changes every card.';

create policy delete_graph_app on app_public.cards for delete to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy delete_graph_app on app_public.cards is 'An application deletes cards of its organization.';

create policy insert_graph_app on app_public.cards for insert to graph_app
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy insert_graph_app on app_public.cards is 'An application adds cards to its own organization only.';

create policy select_graph_app on app_public.cards for select to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_app on app_public.cards is 'An application reads all cards of its organization.';

create policy select_graph_basic on app_public.cards for select to graph_basic
  using (false);
comment on policy select_graph_basic on app_public.cards is 'A basic token reads no row.';

create policy select_graph_user on app_public.cards for select to graph_user
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)) AND (id = ANY ((ARRAY( SELECT card_assignments.card_id
   FROM app_public.card_assignments)))));
comment on policy select_graph_user on app_public.cards is 'A person sees the cards that are assigned to them.';

create policy update_graph_app on app_public.cards for update to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy update_graph_app on app_public.cards is 'An application changes cards of its organization.';

CREATE TRIGGER audit_columns AFTER UPDATE OF created_at, updated_at ON app_public.cards FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();

CREATE TRIGGER audit_delete AFTER DELETE ON app_public.cards REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('dd');

CREATE TRIGGER audit_insert AFTER INSERT ON app_public.cards REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('dd');

CREATE TRIGGER audit_update AFTER UPDATE ON app_public.cards FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_update('dd');

CREATE TRIGGER cards_100_keep_type BEFORE UPDATE OF type ON app_public.cards FOR EACH ROW WHEN (old.type <> new.type) EXECUTE FUNCTION app_hidden.cards_keep_type();

CREATE TRIGGER cards_900_updated BEFORE UPDATE ON app_public.cards FOR EACH ROW EXECUTE FUNCTION app_hidden.set_updated_at();

CREATE TRIGGER follow_delete AFTER DELETE ON app_public.cards REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.cards', 'DELETE', 'type', '{}', 'id');

CREATE TRIGGER follow_insert AFTER INSERT ON app_public.cards REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.cards', 'CREATE', 'type', '{}', 'id');

CREATE TRIGGER follow_update AFTER UPDATE ON app_public.cards FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION feed.record_update('app_public.cards', 'type', '0', '{}', 'id');

grant delete, insert, select, update on app_public.cards to graph_admin;
grant delete, insert (organization_id, type, name, proximity_uuid, major, minor, nfc_identifier, external_identifier), select, update (name, proximity_uuid, major, minor, nfc_identifier, external_identifier) on app_public.cards to graph_app;
grant select on app_public.cards to graph_basic;
grant select on app_public.cards to graph_user;
