--! Previous: sha1:94fbb2af9d877414f8e54b26e0c8b1198b27622a
--! Hash: sha1:c7ffba77806ee0befed633d30c61b836099a6da7
--! Message: index access by unit and user

--! no-transaction
-- `accessGrants` of a unit, in the default order.
create index concurrently if not exists unit_access_unit_id_user_id_idx on app_hidden.unit_access (organization_id, unit_id, user_id);
