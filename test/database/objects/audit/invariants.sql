create table audit.invariants (
  name text not null,
  relation text default '*'::text not null,
  commands text[] default '{select,insert,update,delete,truncate}'::text[] not null,
  roles text[],
  columns text[] default '{}'::text[] not null,
  expression text not null,
  rule text not null,
  constraint invariants_pkey PRIMARY KEY (name, relation),
  constraint invariants_commands_known CHECK (commands <@ '{select,insert,update,delete,truncate}'::text[]),
  constraint invariants_length CHECK (char_length(name) <= 200 AND char_length(relation) <= 200 AND char_length(expression) <= 10000),
  constraint invariants_rule_text CHECK (char_length(rule) >= 1 AND char_length(rule) <= 2000)
);
comment on table audit.invariants is 'What no client can break: `npm run -s audit -- prove` proves each of every table, command and role.';
comment on column audit.invariants.relation is '`*` is every table and view that has `columns`; one of the same name for a relation stands in its place there.';
comment on column audit.invariants.roles is 'Null is every role that a request comes as, which is all of audit.request_roles but the worker''s.';
comment on column audit.invariants.columns is 'What a relation must have. Of an insert or update the invariant is stated when the role may write one of them.';
comment on column audit.invariants.expression is 'SQL over `old`, `new` and `claims`; must be true. Tables in it are read whole. `could_update(new)` and `only_through(old, ''schema.table'')` are the prover''s own.';
comment on column audit.invariants.rule is 'The same in plain English.';

alter table audit.invariants enable row level security, force row level security;

create policy all_graph_admin on audit.invariants for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on audit.invariants is 'Administration states what must hold.';

create policy select_graph_auditor on audit.invariants for select to graph_auditor
  using (true);
comment on policy select_graph_auditor on audit.invariants is 'An auditor reads what must hold.';

grant delete, insert, select, update on audit.invariants to graph_admin;
grant select on audit.invariants to graph_auditor;
