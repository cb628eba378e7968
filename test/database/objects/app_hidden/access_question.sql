create type app_hidden.access_question as (
  unit_id uuid,
  unit_external_identifier text,
  user_id uuid,
  user_external_identifier text,
  card_id uuid,
  card_external_identifier text,
  nfc_identifier text,
  beacon app_public.beacon_input,
  at timestamp with time zone
);
comment on type app_hidden.access_question is 'May a user, or the holder of a card, enter a unit? Where an external identifier and an id are given, the id counts if the other one finds nothing.';
comment on column app_hidden.access_question.at is 'The time that the grants are judged by; null for now. Cards and units are as they are now.';
