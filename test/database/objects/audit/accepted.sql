create table audit.accepted (
  kind text not null,
  object text not null,
  who text not null,
  reason text not null,
  hash text,
  constraint accepted_pkey PRIMARY KEY (kind, object, who),
  constraint accepted_length CHECK (char_length(kind) <= 200 AND char_length(object) <= 2000 AND char_length(who) <= 2000 AND char_length(hash) <= 10000),
  constraint accepted_reason_text CHECK (char_length(reason) >= 1 AND char_length(reason) <= 2000)
);
comment on table audit.accepted is 'Rows of audit.bypasses that are meant to be so, each with its reason.';
comment on column audit.accepted.hash is 'What was accepted: a hash of a function, or of a goal of a table or view; the rights of `right`; the readers of `secret_readable`. What has changed since is a finding.';

alter table audit.accepted enable row level security, force row level security;

create policy all_graph_admin on audit.accepted for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on audit.accepted is 'Administration accepts a bypass, and takes that back.';

create policy select_graph_auditor on audit.accepted for select to graph_auditor
  using (true);
comment on policy select_graph_auditor on audit.accepted is 'An auditor reads what was accepted, and why.';

CREATE TRIGGER note_hash BEFORE INSERT ON audit.accepted FOR EACH ROW EXECUTE FUNCTION audit.note_hash();

grant delete, insert, select, update on audit.accepted to graph_admin;
grant select on audit.accepted to graph_auditor;
