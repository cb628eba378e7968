--! Previous: sha1:a4083903eff01dce47658c4507c1923247e4e93a
--! Hash: sha1:4d19c588bdc788d1b4b6e65f331f85e7e4e9914f
--! Message: cards of one external identifier

--! no-transaction
-- Unique in the organization; a constraint is made of it in the next migration but two.
create unique index concurrently if not exists cards_external_identifier_key on app_public.cards (organization_id, external_identifier);
