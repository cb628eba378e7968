create type app_public.unit_sync_input as (
  external_identifier text,
  name text,
  parent_external_identifier text
);
comment on type app_public.unit_sync_input is 'A unit as a client system has it. What is left out stays as it is; a new unit needs `name`.';
comment on column app_public.unit_sync_input.external_identifier is '@notNull
Identifier that the client system assigns: 1 to 200 characters, compared exactly. It says which unit is meant.';
comment on column app_public.unit_sync_input.name is 'Name: 1 to 200 characters.';
comment on column app_public.unit_sync_input.parent_external_identifier is 'External identifier of the unit above, which may be another row; null makes it a root, as a new unit is without it.';
