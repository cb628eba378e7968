--! Previous: sha1:11c0d21c8402484db28c442bd6c8f69892806871
--! Hash: sha1:bab3c784eb43028105c3323c8925970170328bc4
--! Message: audit seals

-- A history that needs no trust in the administrator. `npm run -s audit -- seal` chains its entries by their hashes, and prints the head.
-- Keep that elsewhere: `npm run -s audit -- verify --head …` then finds what was changed since, also by the owner with triggers off.
--
-- The owner seals, an auditor verifies, and no role may change or delete a seal.

create table audit.seals (
  number bigint not null,
  sealed_at timestamptz not null,
  retention interval not null,
  until bigint not null,
  ids int8multirange not null,
  pending int8multirange not null,
  marks bytea not null,
  head bytea not null,
  constraint seals_pkey primary key (number)
);
comment on table audit.seals is 'The seals of the history, each of which chains the entries since the one before it. Append-only.';
comment on column audit.seals.sealed_at is 'When it was made: an entry above `until` is from after that.';
comment on column audit.seals.retention is 'audit.retention() at that time: entries may be missing from months that were older.';
comment on column audit.seals.until is 'The highest id that it, or one before it, may have sealed.';
comment on column audit.seals.ids is 'The ids of the entries that it seals; those of rolled back changes are missing.';
comment on column audit.seals.pending is 'The ids up to `until` that transactions which were open may still add. A later seal has those that came.';
comment on column audit.seals.marks is 'The first four bytes of the hash of each entry, in the order of ids: they say which entry was changed.';
comment on column audit.seals.head is 'The hash of the seal, of its chains and of the head before it.';

create table audit.chains (
  organization_id uuid not null,
  month date not null,
  seal bigint not null,
  entries bigint not null,
  head bytea not null,
  -- The newest head of an organization's month: `order by seal desc limit 1`.
  constraint chains_pkey primary key (organization_id, month, seal)
);
create index chains_seal_idx on audit.chains (seal);
-- Absent on purpose: a foreign key to the seal. Its head has the hashes of all that it brings.
comment on table audit.chains is 'The hash chain of each organization and month (UTC), as far as each seal has brought it. Stays when the entries are gone. Append-only.';
comment on column audit.chains.entries is 'How many entries the seal has added.';
comment on column audit.chains.head is 'The hash of the last entry and of the head before it.';

alter table audit.seals enable row level security, force row level security;
create policy select_graph_admin on audit.seals for select to graph_admin using (true);
comment on policy select_graph_admin on audit.seals is 'Administration reads the seals, and cannot rewrite them.';
create policy select_graph_auditor on audit.seals for select to graph_auditor using (true);
comment on policy select_graph_auditor on audit.seals is 'An auditor verifies the history of every organization.';
create policy insert_graph_admin on audit.seals for insert to graph_admin with check (true);
comment on policy insert_graph_admin on audit.seals is 'The owner seals the history.';

alter table audit.chains enable row level security, force row level security;
create policy select_graph_admin on audit.chains for select to graph_admin using (true);
comment on policy select_graph_admin on audit.chains is 'Administration reads the chains, and cannot rewrite them.';
create policy select_graph_auditor on audit.chains for select to graph_auditor using (true);
comment on policy select_graph_auditor on audit.chains is 'An auditor verifies the history of every organization.';
create policy insert_graph_admin on audit.chains for insert to graph_admin with check (true);
comment on policy insert_graph_admin on audit.chains is 'The owner seals the history.';
grant select on audit.seals, audit.chains to graph_auditor, graph_admin;
grant insert on audit.seals, audit.chains to graph_admin;
-- Absent on purpose: any right to change or delete a seal, and any right of a request.
