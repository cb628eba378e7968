create table audit.chains (
  organization_id uuid not null,
  month date not null,
  seal bigint not null,
  entries bigint not null,
  head bytea not null,
  constraint chains_pkey PRIMARY KEY (organization_id, month, seal)
);
comment on table audit.chains is 'The hash chain of each organization and month (UTC), as far as each seal has brought it. Stays when the entries are gone. Append-only.';
comment on column audit.chains.entries is 'How many entries the seal has added.';
comment on column audit.chains.head is 'The hash of the last entry and of the head before it.';

alter table audit.chains enable row level security, force row level security;

CREATE INDEX chains_seal_idx ON audit.chains USING btree (seal);

create policy insert_graph_admin on audit.chains for insert to graph_admin
  with check (true);
comment on policy insert_graph_admin on audit.chains is 'The owner seals the history.';

create policy select_graph_admin on audit.chains for select to graph_admin
  using (true);
comment on policy select_graph_admin on audit.chains is 'Administration reads the chains, and cannot rewrite them.';

create policy select_graph_auditor on audit.chains for select to graph_auditor
  using (true);
comment on policy select_graph_auditor on audit.chains is 'An auditor verifies the history of every organization.';

grant insert, select on audit.chains to graph_admin;
grant select on audit.chains to graph_auditor;
