--! Previous: sha1:c113dd38624363a0339cb876302fb20da7a2afd4
--! Hash: sha1:5730f50d0c6a119631f22b45a23022ae790d4d40
--! Message: drop index of access by unit

--! no-transaction
-- The index by unit and user has its column, too.
drop index concurrently if exists app_hidden.unit_access_unit_id_idx;
