--! Previous: sha1:628661be735400f7491d6ed1053aaef1913202a0
--! Hash: sha1:1e25a3e0b26ab526604508aa11965752de221ddc
--! Message: drop index of access by unit

--! no-transaction
-- The index by unit and user has its column, too.
drop index concurrently if exists app_hidden.unit_access_unit_id_idx;
