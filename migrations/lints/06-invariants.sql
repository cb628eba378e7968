-- The invariants of this version. Each run of migrations writes them anew, and keeps other invariants, which migrations insert.
-- A database still has an invariant whose lines are removed here: add delete from audit.invariants where name = '…'.

create table audit.stated (like audit.invariants including defaults);

insert into audit.stated (name, relation, commands, roles, columns, expression, rule) values
  ('organization', '*', default, default, default,
    'old.organization_id = claims.organization_id and new.organization_id = claims.organization_id',
    'No row of an organization other than the claim''s is seen, inserted, changed or deleted.'),
  ('organization', 'app_hidden.organizations', default, default, default,
    'old.id = claims.organization_id and new.id = claims.organization_id', 'An organization is its own.'),
  ('claims', '*', default, default, default, 'claims.organization_id is not null', 'Without claims nothing is seen or changed.'),
  ('person', '*', default, '{graph_user}', '{user_id}', 'old.user_id = claims.user_id and new.user_id = claims.user_id',
    'A person reaches no row of another person: no card assignment, no grant.'),
  ('person', 'app_public.users', default, '{graph_user}', default, 'old.id = claims.user_id and new.id = claims.user_id',
    'A person reaches no other person.'),
  ('person', 'app_public.cards', default, '{graph_user}', default,
    'exists (select from app_public.card_assignments a where a.organization_id = old.organization_id and a.card_id = old.id and a.user_id = claims.user_id)',
    'A person reaches no card that is not assigned to them.'),
  ('time', 'app_hidden.unit_access', default, '{graph_user}', default,
    '(old.valid_from is null or old.valid_from <= app_hidden.current_moment()) and (old.valid_until is null or old.valid_until > app_hidden.current_moment())',
    'A person reaches no grant outside its time.'),
  ('person', 'app_public.units', default, '{graph_user}', default,
    'exists (select from app_hidden.unit_access a where a.organization_id = old.organization_id and a.unit_id = any (old.ancestor_ids) and a.user_id = claims.user_id
       and (a.valid_from is null or a.valid_from <= app_hidden.current_moment()) and (a.valid_until is null or a.valid_until > app_hidden.current_moment()))',
    'A person reaches no unit that is neither granted to them at this moment nor below one that is.'),
  ('person', 'app_hidden.unit_ancestors', default, '{graph_user}', default,
    'exists (select from app_hidden.unit_access a where a.organization_id = old.organization_id and a.unit_id = old.ancestor_id and a.user_id = claims.user_id
       and (a.valid_from is null or a.valid_from <= app_hidden.current_moment()) and (a.valid_until is null or a.valid_until > app_hidden.current_moment()))',
    'A person learns only what is below the units granted to them at this moment.'),
  ('application', 'oauth.applications', default, '{graph_app,graph_user,graph_basic}', default, 'old.id = claims.application_id and new.id = claims.application_id',
    'A token reaches no application but its own.'),
  ('application', 'app_hidden.idempotency_keys', default, '{graph_app,graph_user,graph_basic}', default,
    'old.application_id = claims.application_id and new.application_id = claims.application_id and old.role = claims.role and new.role = claims.role
     and old.principal_id = coalesce(claims.user_id, claims.application_id) and new.principal_id = coalesce(claims.user_id, claims.application_id)',
    'A token is given no answer to another application, person or role.'),
  ('secrets', 'oauth.application_secrets', default, default, default, 'false', 'No client reads or changes what authenticates.'),
  ('authority', 'oauth.applications', '{insert,update,delete,truncate}', default, default, 'false', 'No client changes an application: administration does.'),
  ('authority', 'oauth.credentials', '{insert,delete,truncate}', '{graph_oauth}', default, 'false', 'The OAuth server renews a hash, and makes no credential.'),
  ('authority', 'app_hidden.organizations', '{insert,update,delete,truncate}', default, default, 'false', 'No client changes an organization.'),
  ('authority', 'app_hidden.unit_access', '{insert,update,delete,truncate}', '{graph_user,graph_basic,graph_oauth}', default, 'false',
    'Only an application grants and revokes access.'),
  ('authority', 'app_hidden.unit_ancestors', '{insert,update,delete,truncate}', default, default, 'false', 'Who is below whom follows from the tree, by triggers.'),
  ('ancestors', 'app_public.units', '{insert,update}', default, '{ancestor_ids}', 'false', 'What a grant reaches follows from the tree, by triggers.'),
  ('basic', '*', default, '{graph_basic}', default, 'false', 'A basic token reads and changes nothing.'),
  ('move', '*', '{update}', default, default, 'could_update(new)', 'A change moves no row to where its writer could not have written it.'),
  ('grants', '*', '{select}', '{graph_user}', default, 'only_through(old, ''app_hidden.unit_access'')',
    'What a person loses by losing access to a unit is what only that access gave.'),
  ('assignments', '*', '{select}', '{graph_user}', default, 'only_through(old, ''app_public.card_assignments'')',
    'What a person loses by losing a card is what only that card gave.');

-- The worker serves every organization, and changes one at a time.
insert into audit.stated (name, relation, commands, roles, columns, expression, rule) values
  ('worker', '*', default, '{graph_worker}', default, 'false', 'The worker reaches nothing but webhooks, their deliveries and the feed.'),
  ('worker', 'feed.changes', '{insert,update,delete,truncate}', '{graph_worker}', default, 'false', 'The worker writes nothing into the feed.'),
  ('enabled', 'app_public.webhooks', '{update}', '{graph_worker}',
    '{organization_id,id,url,type_names,secret_ciphertext,previous_secret_ciphertext,previous_valid_until,created_at}', 'false',
    'The worker enables or disables a webhook, and changes nothing else of it.');
insert into audit.stated (name, relation, commands, roles, expression, rule)
select 'worker', relation, '{insert,update,delete,truncate}'::text[], '{graph_worker}'::text[],
  'old.organization_id = claims.organization_id and new.organization_id = claims.organization_id', 'The worker changes nothing of an organization other than the claim''s.'
from unnest('{app_public.webhooks,app_hidden.webhook_positions,app_public.webhook_deliveries}'::text[]) as relation
union all
select 'webhooks', relation, commands::text[], '{graph_worker}', 'false', 'The worker neither makes nor deletes a webhook, and deletes no delivery.'
from (
  values ('app_public.webhooks', '{insert,delete,truncate}'), ('app_hidden.webhook_positions', '{insert,delete,truncate}'), ('app_public.webhook_deliveries', '{delete,truncate}')
) as kept (relation, commands);
-- Functions with the rights of graph_helper or graph_purger serve clients, who choose when: what they change is bounded by policies.
insert into audit.stated (name, relation, commands, roles, expression, rule)
select 'helper', relation, commands::text[], '{graph_helper}'::text[], expression, rule
from (
  values
    ('*', '{insert,update,delete,truncate}', 'false', 'A function with the rights of graph_helper changes nothing but what is named.'),
    ('app_hidden.idempotency_usage', '{delete,truncate}', 'false', 'A trigger counts, and deletes no count.'),
    ('app_hidden.unit_ancestors', '{update,truncate}', 'false', 'Triggers add and delete pairs, and change none.'),
    ('app_public.units', '{insert,delete,truncate}', 'false', 'A trigger changes units, and makes and deletes none.'),
    ('audit.changes', '{delete,truncate}', 'false', 'The history loses no entry.'),
    ('feed.changes', '{update,delete,truncate}', 'false', 'The feed is only added to.')
) as bounded (relation, commands, expression, rule)
union all
select 'purger', relation, '{insert,update,delete,truncate}'::text[], '{graph_purger}'::text[], expression, rule
from (
  values
    ('*', 'false', 'A purge changes nothing but what is named.'),
    ('app_hidden.idempotency_keys', 'old.expires_at <= statement_timestamp()', 'An answer is deleted once it has expired.'),
    ('app_hidden.idempotency_usage', 'old.expires_at <= statement_timestamp()', 'A count of what is kept is deleted once it has expired.'),
    ('oauth.access_tokens', 'old.expires_at <= statement_timestamp()', 'A token is deleted once it has expired.'),
    ('oauth.refresh_tokens', 'old.expires_at <= statement_timestamp()', 'A token is deleted once it has expired.'),
    ('oauth.authorization_codes', 
      'old.expires_at <= statement_timestamp() - ''1 day''::interval
       or not exists (select from oauth.access_tokens t where t.organization_id = old.organization_id and t.grant_id = old.grant_id)
         and not exists (select from oauth.refresh_tokens t where t.organization_id = old.organization_id and t.grant_id = old.grant_id)',
      'A code is deleted a day after it expired: until then a replay is noticed. It may go with its grant, of which a replay has nothing to end.'),
    ('oauth.sessions', 'old.expire <= statement_timestamp()', 'A session is deleted once it has expired.'),
    ('oauth.throttles', 'old.expire::numeric <= extract(epoch from statement_timestamp()) * 1000::numeric', 'A count is deleted once its window is over.'),
    ('oauth.grants',
      'not exists (select from oauth.access_tokens t where t.organization_id = old.organization_id and t.grant_id = old.id)
       and not exists (select from oauth.refresh_tokens t where t.organization_id = old.organization_id and t.grant_id = old.id)',
      'A grant is deleted once it has no token.'),
    ('oauth.consents', 'exists (select from oauth.sessions s where s.organization_id = old.organization_id and s.sid = old.sid and s.expire <= statement_timestamp())',
      'A question goes with its session, once that has expired.'),
    ('app_public.webhook_deliveries', 'old.changed_at <= statement_timestamp() - feed.retention()', 'A delivery is deleted once its change is no longer kept.')
) as bounded (relation, expression, rule);
insert into audit.stated (name, relation, commands, roles, columns, expression, rule) values
  ('ancestors only', 'app_public.units', '{update}', '{graph_helper}', '{organization_id,id,parent_id,name,external_identifier}', 'false', 'The trigger that moves subtrees writes ancestors alone.'),
  ('erasure', 'audit.changes', '{update}', '{graph_helper}', default, 'new.before is null and new.after is null', 'An erasure takes values out of the history, and writes none.');
insert into audit.stated (name, relation, commands, roles, expression, rule)
select 'history', 'audit.' || name, '{update,delete,truncate}', '{graph_admin,graph_auditor}', expression, 'Administration rewrites no history: it drops what is older than is kept.'
from (values ('changes', 'old.occurred_at <= statement_timestamp() - audit.retention()'), ('seals', 'false'), ('chains', 'false')) as kept (name, expression);
insert into audit.stated (name, relation, commands, roles, expression, rule)
select 'secrets', 'oauth.' || name, '{select,insert,update,truncate}', '{graph_app,graph_user,graph_basic}'::text[], 'false', 'No client reads or changes what authenticates.'
from unnest('{access_tokens,refresh_tokens,authorization_codes,credentials,sessions,consents,grants}'::text[]) as name
union all
select 'leavers', 'oauth.' || name, '{delete}'::text[], '{graph_app,graph_user,graph_basic}'::text[],
  'claims.role = ''graph_app'' and old.organization_id = claims.organization_id', 'What authenticates a person goes with the person, whom only an application deletes.'
from unnest('{access_tokens,refresh_tokens,authorization_codes,credentials,sessions,consents,grants}'::text[]) as name
union all
values ('secrets', 'oauth.throttles', '{select,insert,update,delete,truncate}'::text[], '{graph_app,graph_user,graph_basic}'::text[], 'false', 'No client reads or changes what limits it.');
insert into audit.stated (name, relation, commands, roles, expression, rule)
select 'authority', 'app_public.' || name, '{insert,update,delete,truncate}', '{graph_user,graph_basic,graph_oauth}', 'false', 'Only an application changes its organization.'
from unnest('{users,units,cards,card_assignments}'::text[]) as name;
insert into audit.stated (name, relation, commands, roles, expression, rule) values
  ('helper', 'audit.uses', '{delete,truncate}', '{graph_helper}', 'false', 'What was used stays noted.');

insert into audit.invariants as known
select * from audit.stated
on conflict on constraint invariants_pkey do update
set (commands, roles, columns, expression, rule) = (excluded.commands, excluded.roles, excluded.columns, excluded.expression, excluded.rule)
where known is distinct from excluded;
drop table audit.stated;

-- For a proof, the role whose statement fires a trigger writes what the trigger writes. So the proofs let a client write columns that only
-- triggers may write, and this lint finds a privilege on one of them.
create or replace view audit.right_lints with (security_invoker = true) as
  select distinct
    'forbidden_column_granted' as name, 'error' as level, format('%s.%s', i.relation, a.attname) as object,
    format('%s may %s it, and the invariant %s says that this role never does', r.role, command, i.name) as detail,
    format('revoke %s (%I) on %s from %s, or state the invariant anew where it is written', command, a.attname, i.relation, r.role) as remedy
  from audit.invariants i
  cross join unnest(i.commands) as command
  join audit.request_roles r on case when i.roles is null then r.kind <> 'worker' else r.role = any (i.roles) end
  -- Not by to_regclass, which fails for an auditor, who may use no schema of clients.
  join pg_namespace n on true
  join pg_class c on c.relnamespace = n.oid and format('%I.%I', n.nspname, c.relname) = i.relation
  join pg_attribute a on a.attrelid = c.oid and a.attname = any (i.columns) and not a.attisdropped
  where i.expression = 'false' and command in ('insert', 'update') and has_column_privilege(r.role_id, a.attrelid, a.attnum, command)
    and not exists (
      select from audit.lent_roles l where l.borrower_id = r.role_id and has_column_privilege(l.lender_id, a.attrelid, a.attnum, command));
comment on view audit.right_lints is 'Rights to write a column of which an invariant says that no such role writes it; empty when all is well.';
grant select on audit.right_lints to graph_auditor, graph_admin;
