--! Previous: sha1:2dfb6b8d9441f5ed376b0a1cb3f7f3408354eaa6
--! Hash: sha1:6cfbf63a999f85fe5b26b0f4685ffe8285e6858d
--! Message: tokens sealed again are no change

-- Enter migration here: docs/changing-the-schema.md. The present text of a policy is in test/database/policies.txt,
-- that of a function in the last file of migrations/committed that makes it (psql: \sf app_public.user_create).

-- The feed tells of another external authentication token, and not of the same one that was sealed again.
-- Its ciphertext differs each time; its keyed hash is the same for the same token.

select graph.follow('app_public.users', ignored => '{external_authentication_token_ciphertext}');
