create table app_hidden.organizations (
  id uuid default app_hidden.uuid_v7() not null,
  name text not null,
  constraint organizations_pkey PRIMARY KEY (id),
  constraint organizations_name_key UNIQUE (name),
  constraint organizations_name_text CHECK (app_hidden.is_text(name))
);
comment on table app_hidden.organizations is 'A tenant: the owner of applications, users, units and cards.';

alter table app_hidden.organizations enable row level security, force row level security;

create policy all_graph_admin on app_hidden.organizations for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on app_hidden.organizations is 'Administration sees and changes every organization.';

CREATE TRIGGER audit_delete AFTER DELETE ON app_hidden.organizations REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('');

CREATE TRIGGER audit_insert AFTER INSERT ON app_hidden.organizations REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('');

CREATE TRIGGER audit_update AFTER UPDATE ON app_hidden.organizations FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_update('');

grant delete, insert, select, update on app_hidden.organizations to graph_admin;
