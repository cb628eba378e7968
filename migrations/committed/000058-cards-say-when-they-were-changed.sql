--! Previous: sha1:4f579cf1848558d206168645c7348c85d69f55af
--! Hash: sha1:c4832d39ab3ab025265ecb7794c47dbf15dd0b14
--! Message: cards say when they were changed

-- A trigger without arguments has null for them, by which nothing differed: `updatedAt` of a card never moved.
create or replace function app_hidden.set_updated_at() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
  declare
    others constant text[] = coalesce(tg_argv, '{}');
  begin
    if to_jsonb(new) - others <> to_jsonb(old) - others then
      new.updated_at := clock_timestamp();
    end if;
    return new;
  end
  $$;

-- The same token is sealed to another ciphertext each time; the hash tells whether it is another token.
drop trigger users_900_updated on app_public.users;
create trigger users_900_updated before update on app_public.users
  for each row execute function app_hidden.set_updated_at('email_lowercase', 'external_authentication_token_ciphertext');
