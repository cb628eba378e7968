--! Previous: sha1:03300537d3a9d254ca02fcff0add1baa28154dc7
--! Hash: sha1:038d709ea75235e26df6f2f5a49459d7a1ef7873
--! Message: index access by unit and user

--! no-transaction
-- `accessGrants` of a unit, in the default order.
create index concurrently if not exists unit_access_unit_id_user_id_idx on app_hidden.unit_access (organization_id, unit_id, user_id);
