--! Previous: sha1:f43647ea5f811a246016955c41a11a43c14a4a8f
--! Hash: sha1:d1dfffdcc74c25e1a07254dbd775ce632d8c9ae2
--! Message: drop index of access by unit

--! no-transaction
-- The index by unit and user has its column, too.
drop index concurrently if exists app_hidden.unit_access_unit_id_idx;
