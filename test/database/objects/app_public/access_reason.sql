create type app_public.access_reason as enum ('GRANTED', 'NO_GRANT', 'NOT_YET_VALID', 'EXPIRED', 'CARD_UNKNOWN', 'CARD_UNASSIGNED', 'USER_UNKNOWN', 'UNIT_UNKNOWN');
comment on type app_public.access_reason is '@value GRANTED A grant on the unit, or on one above it, is valid at that time.
@value NO_GRANT There is no grant on the unit, nor on one above it.
@value NOT_YET_VALID A grant has yet to begin, and none is valid.
@value EXPIRED Every grant has ended.
@value CARD_UNKNOWN There is no such card.
@value CARD_UNASSIGNED Nobody has the card.
@value USER_UNKNOWN There is no such user.
@value UNIT_UNKNOWN There is no such unit.
Why somebody may or may not enter.';
