--! Previous: sha1:c0bf04b78263259152783628d0e4cdcfdec998b3
--! Hash: sha1:1a8324f68cbd9ee5ae849a160c14cd85d98ebe40
--! Message: accepted findings

-- What escapes row-level security or the history, or what a lint would find, and is meant to be so: each with a reason that the next
-- reader understands. A later migration accepts what it adds.

insert into audit.accepted (kind, object, who, reason) values
  -- Functions with the rights of their owner.
  ('definer', 'oauth.find_application(text)', 'graph_oauth', 'Finds out whose a client id is; until then there is no organization that a policy could ask for.'),
  ('definer', 'oauth.verify_access_token(bytea)', 'graph_oauth', 'Finds out whose a token is; until then there is no organization that a policy could ask for.'),
  ('definer', 'oauth.purge_tokens(integer)', 'graph_admin, graph_oauth', 'Deletes what has expired in every organization; a policy on graph_purger bounds it to that.'),
  ('definer', 'oauth.purge_rows(text, integer)', 'graph_admin, graph_oauth', 'Deletes what has expired in every organization; a policy on graph_purger bounds it to that.'),
  ('definer', 'audit.record_rows()', 'nobody', 'The triggers of recorded tables call it, and no client role may write the history.'),
  ('definer', 'audit.record_row()', 'nobody', 'The triggers of recorded tables call it, and no client role may write the history.'),
  ('definer', 'audit.record_updates()', 'nobody', 'The triggers of recorded tables call it, and no client role may write the history.'),
  ('definer', 'audit.erase_person()', 'nobody', 'A trigger of app_public.users calls it, and no client role may change the history.'),
  ('definer', 'oauth.purge_changes(integer)', 'graph_admin, graph_oauth', 'Makes and drops partitions of the history, which only its owner may; those alone of which all is older than audit.retention.'),
  ('definer', 'oauth.partition_state()', 'graph_admin, graph_auditor, graph_oauth', 'Counts what is in default partitions, which only the owner may read by name, and shows no row.'),
  ('definer', 'app_hidden.require_access_token(bytea)', 'graph_app, graph_basic, graph_user', 'Who presents a token proves it; nobody who holds one may look at tokens.'),
  ('definer', 'app_hidden.is_served(uuid)', 'graph_admin, graph_oauth, graph_worker', 'Says of an organization that the service works for whether it is here, and shows no row.'),
  ('definer', 'app_hidden.arrived_at()', 'graph_admin, graph_app, graph_worker', 'Says of the organization of the claims since when it is here.'),
  ('definer', 'app_hidden.note_secret_key(bytea, bytea)', 'graph_admin, graph_oauth', 'Notes a checksum if there is none, and gives the noted one, which tells nothing without SECRET_KEY.'),
  ('definer', 'oauth.written_lsn(uuid, uuid)', 'graph_oauth', 'Asked together with whose a token is; until then there is no organization that a policy could ask for.'),
  ('definer', 'app_hidden.units_delete_ancestors()', 'nobody', 'A trigger of app_public.units calls it, and no other role may write ancestors.'),
  ('definer', 'app_hidden.units_insert_ancestors()', 'nobody', 'A trigger of app_public.units calls it, and no other role may write ancestors.'),
  ('definer', 'app_hidden.units_move_subtrees()', 'nobody', 'A trigger of app_public.units calls it, and no other role may write ancestors.'),
  ('definer', 'app_hidden.count_idempotency_key()', 'nobody', 'The trigger of app_hidden.idempotency_keys calls it, and no client role may change the counts.'),
  ('definer', 'feed.record_rows()', 'nobody', 'The triggers of followed tables call it, and no client role may write the feed.'),
  ('definer', 'feed.record_row()', 'nobody', 'The triggers of followed tables call it, and no client role may write the feed.'),
  ('definer', 'feed.record_updates()', 'nobody', 'The triggers of followed tables call it, and no client role may write the feed.'),
  ('definer', 'feed.changed_since(uuid[], xid8[], bigint[])', 'graph_oauth', 'Says of organizations that the service serves whether they have changes, and nothing of these.'),
  ('definer', 'feed.rotate_partitions()', 'graph_admin, graph_oauth', 'Makes and drops partitions of the feed, which only its owner may.'),
  ('definer', 'audit.record_read(text, double precision)', 'nobody', 'Policies of audit.record_reads call it, and there is none.'),
  ('definer', 'oauth.note_uses(text[], text[])', 'graph_admin, graph_oauth', 'Notes which rights are used, which is no row of an organization, and answers nothing.'),
  -- Tables whose changes are not recorded.
  ('history', 'app_hidden.unit_ancestors', 'everybody', 'Follows from app_public.units, whose changes are recorded.'),
  ('history', 'app_hidden.organization_moves', 'everybody', 'Says where an organization is, and nothing of it.'),
  ('history', 'oauth.access_tokens', 'everybody', 'Lives for two hours. Its grant is recorded, from its first to its last moment.'),
  ('history', 'oauth.refresh_tokens', 'everybody', 'One replaces the other. Their grant is recorded, from its first to its last moment.'),
  ('history', 'oauth.authorization_codes', 'everybody', 'Lives for a minute. The grant that it buys is recorded.'),
  ('history', 'oauth.sessions', 'everybody', 'Lives for a browser''s visit. The grants that a person gives in it are recorded.'),
  ('history', 'oauth.consents', 'everybody', 'A question that waits for its answer. The grant that follows from a yes is recorded.'),
  ('history', 'app_hidden.idempotency_keys', 'everybody', 'Lives for a day. What the request changed is recorded.'),
  ('history', 'app_hidden.idempotency_usage', 'everybody', 'Counts the rows of app_hidden.idempotency_keys.'),
  ('history', 'app_hidden.webhook_positions', 'everybody', 'Follows from the feed.'),
  ('history', 'app_public.webhook_deliveries', 'everybody', 'It is a record itself.'),
  -- What the lints would find.
  ('policy_always_true', 'insert_graph_oauth on oauth.throttles', '', 'Tries are counted before anybody has said where they belong; a key tells nothing without SECRET_KEY.'),
  ('policy_always_true', 'update_graph_oauth on oauth.throttles', '', 'Tries are counted before anybody has said where they belong; a key tells nothing without SECRET_KEY.'),
  ('policy_always_true', 'select_graph_oauth on oauth.throttles', '', 'Tries are counted before their organization is known; a key tells nothing without SECRET_KEY.'),
  ('policy_column_without_index', 'all_graph_oauth on oauth.consents', '', 'A question is found by its hash, or by its session.'),
  ('policy_column_without_index', 'select_graph_user on app_hidden.unit_access', '', 'The person finds the few grants, and the same index has their times beside the key.'),
  ('policy_column_without_index', 'delete_graph_purger on oauth.throttles', '', 'The table is small, and counting must not touch an index.'),
  ('secret_readable', 'app_public.users.external_authentication_token_ciphertext', '', 'Only the service has the key. With the right to ask, a wrong token is refused one field and not all.'),
  ('secret_readable', 'app_public.users.external_authentication_token_hash', '', 'Keyed with what only the service has; the application set the token itself.'),
  ('secret_readable', 'app_hidden.idempotency_keys.answer_ciphertext', '', 'Only the service has the key, and the application was given the answer.'),
  ('secret_readable', 'app_hidden.idempotency_keys.key_hash', '', 'The application made the key itself.'),
  ('secret_readable', 'app_public.webhooks.secret_ciphertext', '', 'Only the service has the key, and the application was given the secret.'),
  ('secret_readable', 'app_public.webhooks.previous_secret_ciphertext', '', 'Only the service has the key, and the application was given the secret.'),
  ('unique_across_organizations', 'oauth.applications_client_id_key', '', 'A client is known by its id before its organization is. Only administration adds any.'),
  ('unique_across_organizations', 'oauth.sessions_sid_key', '', 'A hash of 256 random bits, which nobody can choose.'),
  ('setting_changed', 'app_hidden.count_row()', '', 'Counts the rows of a statement in graph.rows, which no policy reads.'),
  ('setting_changed', 'audit.become(audit.principals)', '', 'Becomes a caller to try what that one may, for the owner alone; what it sets ends with a subtransaction.'),
  ('setting_changed', 'audit.seeing(regclass,jsonb,text)', '', 'Becomes callers to try what they may, for the owner alone; what it sets ends with a subtransaction.'),
  ('no_primary_key', 'audit.changes', '', 'Each of its partitions has one. Its own would have to include the time.');

-- A goal that is not proven, and may be so. `call`: a function that runs text, with the rights of its caller.
insert into audit.accepted (kind, object, who, reason)
select 'invariant', format('%s: %s on %s', invariant, command, relation), who, reason
from (
  values
    ('organization', '{select}'::text[], 'app_hidden.time_zones', 'graph_app', 'The list is the same for all organizations.'),
    ('organization', '{select,insert,update}', 'oauth.throttles', 'graph_oauth', 'Tries are counted before it is known whose they are; a key tells nothing without SECRET_KEY.'),
    ('claims', '{select,insert,update}', 'oauth.throttles', 'graph_oauth', 'Tries are counted before it is known whose they are; a key tells nothing without SECRET_KEY.'),
    ('basic', '{select,insert,delete}', 'app_hidden.idempotency_keys', 'graph_basic', 'A basic token repeats a mutation and is given its own answer, by app_hidden.claim_idempotency_key.'),
    ('basic', '{select}', 'app_hidden.idempotency_usage', 'graph_basic', 'app_hidden.claim_idempotency_key asks how much the organization keeps.'),
    ('helper', '{insert}', 'app_hidden.secret_key_check', 'graph_helper', 'One row about none of the organizations, which app_hidden.note_secret_key writes once.'),
    ('worker', '{select}', 'app_hidden.webhook_charge', 'graph_worker', 'Which database sends: a row about none of the organizations.'),
    ('ancestors', '{insert,update}', 'app_public.units', 'graph_app', 'The trigger units_200_place writes them, as its parent has them.'),
    ('claims', '{call}', 'app_hidden.broken_checks(anyarray)', 'graph_admin, graph_app', 'Runs the checks of a table as the catalogue has them, and no text of the caller.')
) as known (invariant, commands, relation, who, reason),
unnest(commands) as command;

-- audit.matrix shows what is personal.
insert into audit.accepted (kind, object, who, reason)
select 'tag_without_effect', 'audit.changes.' || name, '', 'audit.matrix shows it; the graph is not made of the history.'
from unnest('{before,after}'::text[]) as name;

-- The rights of this version. A later one on any of these objects and columns is a finding.
insert into audit.accepted (kind, object, who, reason, hash)
select 'right', r.object, r.who, 'As this version has it.', array_agg(concat_ws(' ', r.command, r.part) order by r.command, r.part)::text
from audit.rights r
group by r.object, r.who;
