create type app_public.credential_input as (
  user_id uuid,
  user_external_identifier text,
  card_id uuid,
  card_external_identifier text,
  nfc_identifier text,
  beacon app_public.beacon_input
);
comment on type app_public.credential_input is '@oneOf
What somebody shows at a door: exactly one of these.';
comment on column app_public.credential_input.user_id is '@type {User}
The user.';
comment on column app_public.credential_input.user_external_identifier is 'The user, by the identifier that the client system assigned.';
comment on column app_public.credential_input.card_id is '@type {Card}
The card.';
comment on column app_public.credential_input.card_external_identifier is 'The card, by the identifier that the client system assigned.';
comment on column app_public.credential_input.nfc_identifier is 'The card, by the identifier of its NFC chip: 4, 7 or 10 bytes in hex without separators, in upper or lower case.';
comment on column app_public.credential_input.beacon is 'The card, by what its beacon advertises.';
