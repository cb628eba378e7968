--! Previous: sha1:ba603517a55a9ad746522e736822176cfb570215
--! Hash: sha1:79a09ca3a1b2b2200f9b6ef2cca9bb67e59d4562
--! Message: cards of one external identifier

--! no-transaction
-- Unique in the organization; a constraint is made of it in the next migration but two.
create unique index concurrently if not exists cards_external_identifier_key on app_public.cards (organization_id, external_identifier);
