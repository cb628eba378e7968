--! Previous: sha1:bd22d1e4a50b17ea7d562c55aff7ad25097d9051
--! Hash: sha1:c0bf04b78263259152783628d0e4cdcfdec998b3
--! Message: recorded and followed

-- Which tables the history records, and which the feed follows. A table of your own is added by the same two functions.
--
-- The history has the names of secrets alone, and nothing of columns that follow from others: ancestors, times, and how far the log was.
-- In the feed another external authentication token is a change. The same one sealed again is none: its ciphertext differs each time,
-- its keyed hash does not.

select audit.record('app_hidden.organizations');
select audit.record('oauth.applications');
select audit.record('oauth.application_secrets', subject_id => 'application_id', row_id => 'application_id', secrets => '{secret_hash}');
select audit.record('app_public.users', secrets => '{external_authentication_token_ciphertext,external_authentication_token_hash}', derived => '{created_at,updated_at}');
select audit.record('oauth.credentials', subject_id => 'user_id', secrets => '{password_hash}');
select audit.record('app_public.units', derived => '{ancestor_ids,created_at,updated_at}');
-- As audit.record has it, but not asked for each unit below one that moves, of which it would record nothing.
create or replace trigger audit_update after update on app_public.units
  for each row when (current_user <> 'graph_helper' and old.* *<> new.*)
  execute function audit.record_row('ddd');
select audit.record('app_public.units');
select audit.record('app_hidden.unit_access', subject_id => 'user_id', derived => '{created_at}');
select audit.record('app_public.cards', derived => '{created_at,updated_at}');
select audit.record('app_public.card_assignments', subject_id => 'user_id', derived => '{created_at,is_exclusive,card_type}');
select audit.record('oauth.grants', subject_id => 'user_id', derived => '{written_lsn}');
select audit.record('app_public.webhooks', secrets => '{secret_ciphertext,previous_secret_ciphertext}', derived => '{created_at}');

select feed.follow('app_public.users', ignored => '{external_authentication_token_ciphertext}');
select feed.follow('app_public.units', ignored => '{ancestor_ids}');
-- Nor is the feed asked for each unit below one that moves.
create or replace trigger follow_update after update on app_public.units
  for each row when (current_user <> 'graph_helper' and old.* *<> new.*)
  execute function feed.record_row();
select feed.follow('app_public.units');
select feed.follow('app_public.cards');
select feed.follow('app_public.card_assignments');
select feed.follow('app_hidden.unit_access', shown => 'app_public.access_grants');
