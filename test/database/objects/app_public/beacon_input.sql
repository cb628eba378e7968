create type app_public.beacon_input as (
  proximity_uuid uuid,
  major integer,
  minor integer
);
comment on type app_public.beacon_input is 'A beacon, by what it advertises.';
comment on column app_public.beacon_input.proximity_uuid is '@notNull
Proximity UUID.';
comment on column app_public.beacon_input.major is '@notNull
Major value, 0 to 65535.';
comment on column app_public.beacon_input.minor is '@notNull
Minor value, 0 to 65535.';
