create table audit.seals (
  number bigint not null,
  sealed_at timestamp with time zone not null,
  retention interval not null,
  until bigint not null,
  ids int8multirange not null,
  pending int8multirange not null,
  marks bytea not null,
  head bytea not null,
  constraint seals_pkey PRIMARY KEY (number)
);
comment on table audit.seals is 'The seals of the history, each of which chains the entries since the one before it. Append-only.';
comment on column audit.seals.sealed_at is 'When it was made: an entry above `until` is from after that.';
comment on column audit.seals.retention is 'audit.retention() at that time: entries may be missing from months that were older.';
comment on column audit.seals.until is 'The highest id that it, or one before it, may have sealed.';
comment on column audit.seals.ids is 'The ids of the entries that it seals; those of rolled back changes are missing.';
comment on column audit.seals.pending is 'The ids up to `until` that transactions which were open may still add. A later seal has those that came.';
comment on column audit.seals.marks is 'The first four bytes of the hash of each entry, in the order of ids: they say which entry was changed.';
comment on column audit.seals.head is 'The hash of the seal, of its chains and of the head before it.';

alter table audit.seals enable row level security, force row level security;

create policy insert_graph_admin on audit.seals for insert to graph_admin
  with check (true);
comment on policy insert_graph_admin on audit.seals is 'The owner seals the history.';

create policy select_graph_admin on audit.seals for select to graph_admin
  using (true);
comment on policy select_graph_admin on audit.seals is 'Administration reads the seals, and cannot rewrite them.';

create policy select_graph_auditor on audit.seals for select to graph_auditor
  using (true);
comment on policy select_graph_auditor on audit.seals is 'An auditor verifies the history of every organization.';

grant insert, select on audit.seals to graph_admin;
grant select on audit.seals to graph_auditor;
