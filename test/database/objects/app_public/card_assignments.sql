create table app_public.card_assignments (
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  user_id uuid not null,
  card_id uuid not null,
  created_at timestamp with time zone default now() not null,
  is_exclusive boolean not null,
  card_type text not null,
  constraint card_assignments_pkey PRIMARY KEY (organization_id, id),
  constraint card_assignments_card_id_user_id_key UNIQUE (organization_id, card_id, user_id),
  constraint card_assignments_card_id_fkey FOREIGN KEY (organization_id, card_id) REFERENCES app_public.cards(organization_id, id) ON DELETE CASCADE,
  constraint card_assignments_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES app_public.users(organization_id, id) ON DELETE CASCADE
);
comment on table app_public.card_assignments is '@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName cardAssignments|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All card assignments of the organization.
A card in the hands of a user.';
comment on column app_public.card_assignments.created_at is 'When the card was assigned.';
comment on column app_public.card_assignments.is_exclusive is '@behavior -*
Whether the card has one holder at most: it is no identification code. Written by a trigger.';
comment on column app_public.card_assignments.card_type is '@behavior -*
The type of the card, which its id in the graph begins with. Written by a trigger.';

comment on constraint card_assignments_card_id_fkey on app_public.card_assignments is '@fieldName card
@relatedType card_type
@foreignFieldName cardAssignments
@listSuffix omit
@notNull
@backwardBehavior -connection +list
@forwardDescription The card.
@backwardDescription To whom the card is assigned.';

comment on constraint card_assignments_user_id_fkey on app_public.card_assignments is '@fieldName user
@foreignFieldName cardAssignments
@listSuffix omit
@notNull
@backwardBehavior -connection +list
@forwardDescription Who has the card.
@backwardDescription Cards that are assigned to the user.';

alter table app_public.card_assignments enable row level security, force row level security;

CREATE UNIQUE INDEX card_assignments_card_id_key ON app_public.card_assignments USING btree (organization_id, card_id) WHERE is_exclusive;
comment on index app_public.card_assignments_card_id_key is '@argument cardId
Another user has this card.';

CREATE INDEX card_assignments_user_id_idx ON app_public.card_assignments USING btree (organization_id, user_id, id);

create policy all_graph_admin on app_public.card_assignments for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on app_public.card_assignments is 'Administration assigns and withdraws cards.';

create policy delete_graph_app on app_public.card_assignments for delete to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy delete_graph_app on app_public.card_assignments is 'An application withdraws cards in its organization.';

create policy insert_graph_app on app_public.card_assignments for insert to graph_app
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy insert_graph_app on app_public.card_assignments is 'An application assigns cards in its own organization only.';

create policy select_graph_app on app_public.card_assignments for select to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_app on app_public.card_assignments is 'An application reads all card assignments of its organization.';

create policy select_graph_basic on app_public.card_assignments for select to graph_basic
  using (false);
comment on policy select_graph_basic on app_public.card_assignments is 'A basic token reads no row.';

create policy select_graph_user on app_public.card_assignments for select to graph_user
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)) AND user_id = (( SELECT app_hidden.current_user_id() AS current_user_id)));
comment on policy select_graph_user on app_public.card_assignments is 'A person sees the own card assignments.';

CREATE TRIGGER audit_columns AFTER UPDATE OF user_id, created_at, is_exclusive, card_type ON app_public.card_assignments FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();

CREATE TRIGGER audit_delete AFTER DELETE ON app_public.card_assignments REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('pddd');

CREATE TRIGGER audit_insert AFTER INSERT ON app_public.card_assignments REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('pddd');

CREATE TRIGGER audit_update AFTER UPDATE ON app_public.card_assignments FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_update('pddd');

CREATE TRIGGER card_assignments_100_place BEFORE INSERT OR UPDATE OF card_id, is_exclusive, card_type ON app_public.card_assignments FOR EACH ROW EXECUTE FUNCTION app_hidden.card_assignments_place();

CREATE TRIGGER follow_delete AFTER DELETE ON app_public.card_assignments REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.card_assignments', 'DELETE', '', '{card_id,card_type,user_id}', 'id');

CREATE TRIGGER follow_insert AFTER INSERT ON app_public.card_assignments REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.card_assignments', 'CREATE', '', '{card_id,card_type,user_id}', 'id');

CREATE TRIGGER follow_update AFTER UPDATE ON app_public.card_assignments FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION feed.record_update('app_public.card_assignments', '', '0', '{card_id,card_type,user_id}', 'id');

grant delete, insert, select, update on app_public.card_assignments to graph_admin;
grant delete, insert (organization_id, user_id, card_id), select on app_public.card_assignments to graph_app;
grant select on app_public.card_assignments to graph_basic;
grant select on app_public.card_assignments to graph_user;
