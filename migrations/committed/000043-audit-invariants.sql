--! Previous: sha1:6257d22d1a34362079c03a8143c6a7bb5262edc8
--! Hash: sha1:e91ecb5029881bfd26cb698287757d37dea4a200
--! Message: audit invariants

-- What `npm run -s audit -- prove` proves. An invariant is an expression over three names: `old` is the row that is read, changed or deleted,
-- `new` the row that is written, `claims` the settings of the transaction. Where there is one row, both names stand for it.

create table audit.invariants (
  name text not null,
  relation text not null default '*',
  commands text[] not null default '{select,insert,update,delete,truncate}',
  roles text[],
  columns text[] not null default '{}',
  expression text not null,
  rule text not null,
  constraint invariants_pkey primary key (name, relation),
  constraint invariants_commands_known check (commands <@ '{select,insert,update,delete,truncate}'),
  constraint invariants_length check (char_length(name) <= 200 and char_length(relation) <= 200 and char_length(expression) <= 10000),
  constraint invariants_rule_text check (char_length(rule) between 1 and 2000)
);
-- Absent on purpose: an organization, as in audit.accepted. What holds, holds for all of them.
comment on table audit.invariants is 'What no client can break: `npm run -s audit -- prove` proves each of every table, command and role.';
comment on column audit.invariants.relation is '`*` is every table and view that has `columns`; one of the same name for a relation stands in its place there.';
comment on column audit.invariants.roles is 'Null is every role that a request comes as, which is all of audit.request_roles but the worker''s.';
comment on column audit.invariants.columns is 'What a relation must have. Of an insert or update the invariant is stated when the role may write one of them.';
comment on column audit.invariants.expression is 'SQL over `old`, `new` and `claims`; must be true. Tables in it are read whole. `could_update(new)` and `only_through(old, ''schema.table'')` are the prover''s own.';
comment on column audit.invariants.rule is 'The same in plain English.';

alter table audit.invariants enable row level security, force row level security;
create policy all_graph_admin on audit.invariants for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on audit.invariants is 'Administration states what must hold.';
create policy select_graph_auditor on audit.invariants for select to graph_auditor using (true);
comment on policy select_graph_auditor on audit.invariants is 'An auditor reads what must hold.';
grant select, insert, update, delete on audit.invariants to graph_admin;
grant select on audit.invariants to graph_auditor;
