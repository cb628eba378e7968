--! Previous: sha1:a0e3d53ac20392b8a61c2014ab364660202777bf
--! Hash: sha1:eb12d5135745fe9f178f01fb6a6494b0229e9e6c
--! Message: drop index of access by unit

--! no-transaction
-- The index by unit and user has its column, too.
drop index concurrently if exists app_hidden.unit_access_unit_id_idx;
