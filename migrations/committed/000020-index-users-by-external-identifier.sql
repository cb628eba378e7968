--! Previous: sha1:cd2bbef9e857589a657ebd32d6ad5d17c36371a6
--! Hash: sha1:b7251dc785a768f73122e5bb50856a3b1830877e
--! Message: index users by external identifier

--! no-transaction
-- For users by external identifier: the order takes a missing one for the empty text.
create index concurrently if not exists users_external_identifier_order_idx
  on app_public.users (organization_id, (coalesce(external_identifier, '')), id);
