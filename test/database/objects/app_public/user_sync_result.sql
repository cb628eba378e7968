create type app_public.user_sync_result as (
  external_identifier text,
  outcome app_public.sync_outcome,
  "user" app_public.users,
  error app_public.sync_error
);
comment on type app_public.user_sync_result is 'What came of a row of `usersSync`.';
comment on column app_public.user_sync_result.external_identifier is '@notNull
The row, by its external identifier.';
comment on column app_public.user_sync_result.outcome is '@notNull
What came of it.';
comment on column app_public.user_sync_result."user" is 'The user after the sync; null when the row was refused, and for a new one of a dry run.';
comment on column app_public.user_sync_result.error is 'Why the row was refused; null unless it was.';
