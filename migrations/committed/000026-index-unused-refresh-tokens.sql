--! Previous: sha1:ff11f57a7fa9d82294d300c84f7cf04fc749d59f
--! Hash: sha1:3e70386e7020726ae51d4541ca809a1db1b45941
--! Message: index unused refresh tokens

--! no-transaction
-- Each issue of a token by client credentials looks for the unused refresh tokens of its grant, beside which it may have many used ones.

create index concurrently if not exists refresh_tokens_unused_idx
  on oauth.refresh_tokens (organization_id, grant_id, created_at) where used_at is null;
