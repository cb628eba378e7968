create type app_public.sync_error as (
  code text,
  argument text,
  message text
);
comment on type app_public.sync_error is 'Why a row of a sync was refused.';
comment on column app_public.sync_error.code is '@notNull
The code that a mutation of this row alone would fail with, such as `CONFLICT`.';
comment on column app_public.sync_error.argument is 'The field of the row that is wrong.';
comment on column app_public.sync_error.message is '@notNull
The reason, for people to read.';
