--! Previous: sha1:1aa3a779bfaed6bf405f89bab02c1d850b4c6cb2
--! Hash: sha1:a4b2e8523b9c02ea8d5b0af781119435dbdf35ef
--! Message: index access by unit and user

--! no-transaction
-- `accessGrants` of a unit, in the default order.
create index concurrently if not exists unit_access_unit_id_user_id_idx on app_hidden.unit_access (organization_id, unit_id, user_id);
