--! Previous: sha1:59eb88e56c460a6f356387dd2eb8b866f63568da
--! Hash: sha1:03300537d3a9d254ca02fcff0add1baa28154dc7
--! Message: index cards by external identifier

--! no-transaction
-- For cards by external identifier: the order takes a missing one for the empty text.
create index concurrently if not exists cards_external_identifier_order_idx
  on app_public.cards (organization_id, (coalesce(external_identifier, '')), id);
