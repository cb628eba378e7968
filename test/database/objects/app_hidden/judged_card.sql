create type app_hidden.judged_card as (
  place integer,
  external_identifier text,
  changes jsonb,
  before app_public.cards,
  after app_public.cards,
  holder_ids uuid[],
  outcome app_public.sync_outcome,
  error app_public.sync_error
);
comment on type app_hidden.judged_card is 'A row of a sync: the columns that it gives, the card before and after it, and who then has the card, null when this stays.';
