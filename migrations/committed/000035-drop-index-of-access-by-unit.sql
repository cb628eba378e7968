--! Previous: sha1:3f08a3ba7775f2f320d631e32454ef169506bbc1
--! Hash: sha1:04b758df97614fc972640103df2ee59470820757
--! Message: drop index of access by unit

--! no-transaction
-- The index by unit and user has its column, too.
drop index concurrently if exists app_hidden.unit_access_unit_id_idx;
