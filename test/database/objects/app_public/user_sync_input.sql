create type app_public.user_sync_input as (
  external_identifier text,
  full_name text,
  email text,
  locale text,
  time_zone text,
  external_authentication_token text,
  accessible_units text[]
);
comment on type app_public.user_sync_input is 'A user as a client system has it. What is left out stays as it is; a new user needs `fullName` and `email`.';
comment on column app_public.user_sync_input.external_identifier is '@notNull
Identifier that the client system assigns: 1 to 200 characters, compared exactly. It says which user is meant.';
comment on column app_public.user_sync_input.full_name is 'Full name: 1 to 200 characters.';
comment on column app_public.user_sync_input.email is 'E-mail address: unique in the organization, whatever its case.';
comment on column app_public.user_sync_input.locale is 'BCP 47 language tag, such as `de` or `de-AT`; `en` for a new user.';
comment on column app_public.user_sync_input.time_zone is 'IANA name, such as `Europe/Berlin`, or the city alone; `UTC` for a new user.';
comment on column app_public.user_sync_input.external_authentication_token is 'Token used for external authentication: unique in the organization, 16 to 500 characters; null clears it.';
comment on column app_public.user_sync_input.accessible_units is 'External identifiers of units. The grants of the `source` are then of these, each with all below it and without a time, and of no others; an empty list or null withdraws them all. Grants of other sources, and without a `source` those of any, stay.';
