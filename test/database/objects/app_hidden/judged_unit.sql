create type app_hidden.judged_unit as (
  place integer,
  external_identifier text,
  parent text,
  changes jsonb,
  before app_public.units,
  after app_public.units,
  depth integer,
  outcome app_public.sync_outcome,
  error app_public.sync_error
);
comment on type app_hidden.judged_unit is 'A row of a sync: the columns that it gives, the unit before and after it, and how many rows above it are written before it.';
