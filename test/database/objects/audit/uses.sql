create table audit.uses (
  role text not null,
  command text not null,
  object text not null,
  part text not null,
  used_on date default CURRENT_DATE not null,
  constraint uses_pkey PRIMARY KEY (role, command, object, part),
  constraint uses_length CHECK (char_length(role) <= 63 AND char_length(command) <= 10 AND char_length(object) <= 200 AND char_length(part) <= 63)
);
comment on table audit.uses is 'What the statements of requests have named, by role, and the last day of each. One row of no role says since when.';
comment on column audit.uses.command is '`select`, `insert`, `update`, `delete` or `execute`.';
comment on column audit.uses.object is 'The table, view or function.';
comment on column audit.uses.part is 'The column; empty for the table itself.';

alter table audit.uses enable row level security, force row level security;

create policy insert_graph_helper on audit.uses for insert to graph_helper
  with check (used_on = CURRENT_DATE);
comment on policy insert_graph_helper on audit.uses is 'oauth.note_uses notes what is used today.';

create policy select_graph_admin on audit.uses for select to graph_admin
  using (true);
comment on policy select_graph_admin on audit.uses is 'Administration asks what is not used.';

create policy select_graph_auditor on audit.uses for select to graph_auditor
  using (true);
comment on policy select_graph_auditor on audit.uses is 'An auditor asks what is not used.';

create policy select_graph_helper on audit.uses for select to graph_helper
  using (true);
comment on policy select_graph_helper on audit.uses is 'oauth.note_uses finds what it has noted before.';

create policy update_graph_helper on audit.uses for update to graph_helper
  using (true)
  with check (used_on = CURRENT_DATE);
comment on policy update_graph_helper on audit.uses is 'oauth.note_uses notes that it is used today, too.';

grant select on audit.uses to graph_admin;
grant select on audit.uses to graph_auditor;
grant insert (role, command, object, part), select, update (used_on) on audit.uses to graph_helper;
