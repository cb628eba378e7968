--! Previous: sha1:b7251dc785a768f73122e5bb50856a3b1830877e
--! Hash: sha1:ce6ef22c902c5c3cd764ffcc394b0a7ddb404a5a
--! Message: index units by external identifier

--! no-transaction
-- For units by external identifier: the order takes a missing one for the empty text.
create index concurrently if not exists units_external_identifier_order_idx
  on app_public.units (organization_id, (coalesce(external_identifier, '')), id);
