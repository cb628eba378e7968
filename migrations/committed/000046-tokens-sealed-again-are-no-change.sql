--! Previous: sha1:e046f3d67f11b9ba56e57a5ea5a398804090b761
--! Hash: sha1:c4db4fd846c483518c74c9100fc2bbc168a4c9a8
--! Message: tokens sealed again are no change

-- Enter migration here: docs/changing-the-schema.md. The present text of a policy is in test/database/policies.txt,
-- that of a function in the last file of migrations/committed that makes it (psql: \sf app_public.user_create).

-- The feed tells of another external authentication token, and not of the same one that was sealed again.
-- Its ciphertext differs each time; its keyed hash is the same for the same token.

select graph.follow('app_public.users', ignored => '{external_authentication_token_ciphertext}');
