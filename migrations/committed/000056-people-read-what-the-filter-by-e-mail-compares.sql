--! Previous: sha1:b65762b9e341627859d88228bbdfeb63b3940c06
--! Hash: sha1:74735e2b401e3505778a6589dab1a0f45e40b35e
--! Message: people read what the filter by e-mail compares

-- Enter migration here: docs/changing-the-schema.md. The present text of a policy is in test/database/policies.txt,
-- that of a function in the last file of migrations/committed that makes it (psql: \sf app_public.user_create).

-- `usersWithAccess(emails:)` compares this column, which is made of one that these roles may read. They see no other rows by it.
grant select (email_lowercase) on app_public.users to graph_user, graph_basic;
