create table app_hidden.unit_ancestors (
  organization_id uuid not null,
  ancestor_id uuid not null,
  unit_id uuid not null,
  constraint unit_ancestors_pkey PRIMARY KEY (organization_id, ancestor_id, unit_id)
);
comment on table app_hidden.unit_ancestors is 'Each unit below each of its ancestors, itself included. Kept by triggers.';

alter table app_hidden.unit_ancestors enable row level security, force row level security;

create policy delete_graph_helper on app_hidden.unit_ancestors for delete to graph_helper
  using (true);
comment on policy delete_graph_helper on app_hidden.unit_ancestors is 'The triggers of app_public.units delete the pairs that no longer hold.';

create policy insert_graph_helper on app_hidden.unit_ancestors for insert to graph_helper
  with check (true);
comment on policy insert_graph_helper on app_hidden.unit_ancestors is 'The triggers of app_public.units add the pairs of new and moved units.';

create policy select_graph_admin on app_hidden.unit_ancestors for select to graph_admin
  using (true);
comment on policy select_graph_admin on app_hidden.unit_ancestors is 'Administration reads who is below whom; it writes units, and the triggers the rest.';

create policy select_graph_app on app_hidden.unit_ancestors for select to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_app on app_hidden.unit_ancestors is 'An application sees which unit of its organization is below which.';

create policy select_graph_helper on app_hidden.unit_ancestors for select to graph_helper
  using (true);
comment on policy select_graph_helper on app_hidden.unit_ancestors is 'The triggers of app_public.units find the pairs that no longer hold.';

create policy select_graph_user on app_hidden.unit_ancestors for select to graph_user
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)) AND (ancestor_id IN ( SELECT access.unit_id
   FROM app_hidden.unit_access access)));
comment on policy select_graph_user on app_hidden.unit_ancestors is 'A person sees what is below the units granted to them.';

grant select on app_hidden.unit_ancestors to graph_admin;
grant select on app_hidden.unit_ancestors to graph_app;
grant delete, insert, select on app_hidden.unit_ancestors to graph_helper;
grant select on app_hidden.unit_ancestors to graph_user;
