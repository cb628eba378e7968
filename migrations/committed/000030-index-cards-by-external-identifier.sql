--! Previous: sha1:4d19c588bdc788d1b4b6e65f331f85e7e4e9914f
--! Hash: sha1:94fbb2af9d877414f8e54b26e0c8b1198b27622a
--! Message: index cards by external identifier

--! no-transaction
-- For cards by external identifier: the order takes a missing one for the empty text.
create index concurrently if not exists cards_external_identifier_order_idx
  on app_public.cards (organization_id, (coalesce(external_identifier, '')), id);
