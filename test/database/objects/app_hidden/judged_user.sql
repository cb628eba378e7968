create type app_hidden.judged_user as (
  place integer,
  external_identifier text,
  changes jsonb,
  before app_public.users,
  after app_public.users,
  unit_ids uuid[],
  outcome app_public.sync_outcome,
  error app_public.sync_error
);
comment on type app_hidden.judged_user is 'A row of a sync: the columns that it gives, the user before and after it, and the units that the user may then access, null when these stay.';
