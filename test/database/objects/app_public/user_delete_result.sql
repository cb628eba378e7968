create type app_public.user_delete_result as (
  id uuid,
  external_identifier text,
  outcome app_public.delete_outcome
);
comment on type app_public.user_delete_result is 'What came of one user of `usersDelete`.';
comment on column app_public.user_delete_result.id is '@type {User}
The id that was given; null when users were given by external identifier.';
comment on column app_public.user_delete_result.external_identifier is 'The external identifier that was given; null when users were given by id.';
comment on column app_public.user_delete_result.outcome is '@notNull
What came of it.';
