/** A table and a mutation, which a test spoils by one statement and mends by another. */
export const table = `
  create table app_public.doors (
    organization_id uuid not null, id uuid not null, unit_id uuid not null, name text not null, labels text[],
    constraint doors_pkey primary key (organization_id, id),
    constraint doors_unit_id_fkey foreign key (organization_id, unit_id) references app_public.units);
  create index doors_unit_id_idx on app_public.doors (organization_id, unit_id, id);
  comment on table app_public.doors is 'Doors.';
  create function app_public.door_create(unit_id uuid, name text) returns app_public.doors
    language sql volatile as 'select null::app_public.doors';
  comment on function app_public.door_create is '@mutation'`;

/** How a finding is found, and a statement that is wrong beside one that is right. */
export type Case = readonly [what: string, name: string, object: string, detail: RegExp, wrong: string, right: string];

export const onTable = (text: string) => `comment on table app_public.doors is E'${text}\\nDoors.'`;
export const onColumn = (text: string) => `comment on column app_public.doors.name is E'${text}\\nName.'`;
export const onFunction = (text: string) => `comment on function app_public.door_create(uuid, text) is E'${text}'`;
export const create = 'app_public.door_create(uuid,text)';
export const key = 'doors_unit_id_fkey on app_public.doors';

export const lints = 'select name, object, detail from audit.graph_lints';
