--! Previous: sha1:899c1ab3eff42ba139d8b5a94ac90f4d6e80190f
--! Hash: sha1:1a172e12ef7640a647a809fa727ea80828110e58
--! Message: tokens sealed again are no change

-- Enter migration here: docs/changing-the-schema.md. The present text of a policy is in test/database/policies.txt,
-- that of a function in the last file of migrations/committed that makes it (psql: \sf app_public.user_create).

-- The feed tells of another external authentication token, and not of the same one that was sealed again.
-- Its ciphertext differs each time; its keyed hash is the same for the same token.

select graph.follow('app_public.users', ignored => '{external_authentication_token_ciphertext}');
