/** Mistakes that a migration could have. The comparison and the prover must find each, or they prove nothing. */
export const bugs: Record<string, string> = {
  'forgets the organization': `
    alter policy select_graph_user on app_public.users using (id = (select app_hidden.current_user_id()))`,
  'ends in "or true"': `
    alter policy select_graph_app on app_public.cards
      using (organization_id = (select app_hidden.current_organization_id()) or true)`,
  'checks no new row': `
    alter policy insert_graph_app on app_public.users with check (true)`,
  'checks no changed row': `
    alter policy all_graph_oauth on oauth.refresh_tokens with check (true)`,
  'deletes in every organization, unless rows are named': `
    alter policy delete_graph_app on app_public.users using (true)`,
  'changes units of every organization': `
    alter policy update_graph_app on app_public.units using (true)`,
  'deletes cards of every organization': `
    alter policy delete_graph_app on app_public.cards using (true)`,
  'assigns a card in another organization': `
    alter policy insert_graph_app on app_public.card_assignments with check (true)`,
  'revokes access in another organization': `
    alter policy delete_graph_app on app_hidden.unit_access using (true)`,
  'lets a person grant access': `
    grant insert on app_hidden.unit_access to graph_user;
    grant execute on function app_hidden.uuid_v7() to graph_user;
    create policy insert_graph_user on app_hidden.unit_access for insert to graph_user
      with check (organization_id = (select app_hidden.current_organization_id()))`,
  'compares how keys begin and not whole keys': `
    alter policy select_graph_user on app_public.units using (
      organization_id = (select app_hidden.current_organization_id())
      and exists (
        select from app_hidden.unit_access access, unnest(ancestor_ids) as ancestor_id
        where left(ancestor_id::text, 8) = left(access.unit_id::text, 8)))`,
  "uses another person's grants": `
    alter policy select_graph_user on app_hidden.unit_access
      using (organization_id = (select app_hidden.current_organization_id()))`,
  "takes '' for everybody": `
    alter policy select_graph_app on app_public.units using (
      organization_id = coalesce((select app_hidden.current_organization_id()), organization_id))`,
  'lets one person have what another was answered': `
    alter policy all_graph_user on app_hidden.idempotency_keys using (
      organization_id = (select app_hidden.current_organization_id())
      and application_id = (select app_hidden.current_application_id()) and role = current_user)`,
  'is off': `
    alter table app_public.card_assignments disable row level security`,
  'is passed by in a view with the rights of its owner': `
    alter view app_public.access_grants set (security_invoker = false)`,
  'is passed by in a function with the rights of its owner': `
    alter function app_hidden.granted_unit_ids() security definer`,
  'forgets the scope': `
    alter policy select_graph_app on app_public.card_assignments to graph_app, graph_basic`,
  'holds for a role that may not look': `
    grant select on oauth.credentials to graph_app;
    create policy select_graph_app on oauth.credentials for select to graph_app
      using (organization_id = (select app_hidden.current_organization_id()))`,
  'keeps the claim of the plan that was made first': `
    create or replace function app_hidden.current_user_id() returns uuid
      language sql immutable parallel safe
      as $$ select nullif(current_setting('graph.user_id', true), '')::uuid $$`,
  'remembers the claim of the transaction before': `
    create or replace function app_hidden.current_organization_id() returns uuid
      language plpgsql
      as $$
      begin
        if current_setting('graph.organization_id', true) <> '' then
          perform set_config('graph.last_organization_id', current_setting('graph.organization_id', true), false);
        end if;
        return nullif(current_setting('graph.last_organization_id', true), '')::uuid;
      end
      $$`,
};
