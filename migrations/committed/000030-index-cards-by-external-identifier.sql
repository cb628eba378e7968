--! Previous: sha1:79a09ca3a1b2b2200f9b6ef2cca9bb67e59d4562
--! Hash: sha1:1aa3a779bfaed6bf405f89bab02c1d850b4c6cb2
--! Message: index cards by external identifier

--! no-transaction
-- For cards by external identifier: the order takes a missing one for the empty text.
create index concurrently if not exists cards_external_identifier_order_idx
  on app_public.cards (organization_id, (coalesce(external_identifier, '')), id);
