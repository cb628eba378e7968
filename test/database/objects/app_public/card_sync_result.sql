create type app_public.card_sync_result as (
  external_identifier text,
  outcome app_public.sync_outcome,
  card app_public.cards,
  error app_public.sync_error
);
comment on type app_public.card_sync_result is 'What came of a row of `cardsSync`.';
comment on column app_public.card_sync_result.external_identifier is '@notNull
The row, by its external identifier.';
comment on column app_public.card_sync_result.outcome is '@notNull
What came of it.';
comment on column app_public.card_sync_result.card is 'The card after the sync; null when the row was refused, and for a new one of a dry run.';
comment on column app_public.card_sync_result.error is 'Why the row was refused; null unless it was.';
