create type app_public.card_sync_input as (
  external_identifier text,
  name text,
  nfc_identifier text,
  beacon app_public.beacon_input,
  user_external_identifier text
);
comment on type app_public.card_sync_input is 'A card as a client system has it. What is left out stays as it is; a new card needs `name`, and is an identification code without `nfcIdentifier` and `beacon`. The type of a card never changes.';
comment on column app_public.card_sync_input.external_identifier is '@notNull
Identifier that the client system assigns: 1 to 200 characters, compared exactly. It says which card is meant.';
comment on column app_public.card_sync_input.name is 'Name: 1 to 200 characters.';
comment on column app_public.card_sync_input.nfc_identifier is 'Identifier of the NFC chip: 4, 7 or 10 bytes in hex without separators, unique in the organization. It may be that of another card which gets another one in the same sync.';
comment on column app_public.card_sync_input.beacon is 'What the beacon advertises; unique in the organization. It may be that of another card which gets another one in the same sync.';
comment on column app_public.card_sync_input.user_external_identifier is 'External identifier of the user who has the card, and nobody else; null takes the card from everybody.';
