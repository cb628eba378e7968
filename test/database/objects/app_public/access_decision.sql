create type app_public.access_decision as (
  organization_id uuid,
  is_allowed boolean,
  reason app_public.access_reason,
  user_id uuid,
  unit_id uuid,
  card_id uuid,
  access_grant_id uuid
);
comment on type app_public.access_decision is '@foreignKey (organization_id, user_id) references app_public.users (organization_id, id)|@fieldName user|@forwardDescription Who may enter; if nobody may, the user or the only holder of the card.
@foreignKey (organization_id, unit_id) references app_public.units (organization_id, id)|@fieldName unit|@forwardDescription The unit; null when it is unknown.
@foreignKey (organization_id, card_id) references app_public.cards (organization_id, id)|@fieldName card|@forwardDescription The card that was shown; null when it is unknown, or a user was named.
@foreignKey (access_grant_id) references app_public.access_grants (id)|@fieldName accessGrant|@forwardDescription The grant that decided.
Whether somebody may enter a unit, and why.';
comment on column app_public.access_decision.is_allowed is '@notNull
Whether the door may open.';
comment on column app_public.access_decision.reason is '@notNull
Why.';
comment on column app_public.access_decision.user_id is '@behavior -*';
comment on column app_public.access_decision.unit_id is '@behavior -*';
comment on column app_public.access_decision.card_id is '@behavior -*';
comment on column app_public.access_decision.access_grant_id is '@behavior -*';
