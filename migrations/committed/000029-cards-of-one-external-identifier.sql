--! Previous: sha1:3424fdd250c568fc94ff72466c9b161450daa7f8
--! Hash: sha1:59eb88e56c460a6f356387dd2eb8b866f63568da
--! Message: cards of one external identifier

--! no-transaction
-- Unique in the organization; a constraint is made of it in the next migration but two.
create unique index concurrently if not exists cards_external_identifier_key on app_public.cards (organization_id, external_identifier);
