--! Previous: sha1:0a17f71e40570a87713eef88a9ce35c042949fd4
--! Hash: sha1:3cd95af7529d501dff7e78ae2f65d641983a5ea2
--! Message: organizations

-- An organization is a tenant: it owns applications, users, units and cards, and nothing crosses from one to another.
-- Its id is the first column of each key of theirs, and each policy compares it with the claim.
--
-- No request reads this table. A request knows its organization by the id alone, which its token says.

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
