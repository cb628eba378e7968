import { lineOf } from '../../src/commands/development/lineOf.ts';

const migration = `-- naïve 🎉: doors
drop table if exists app_public.doors;

/* app_public.doors
   come here */
create table app_public.doors (
  id uuid primary key,
  "my name" text,
  unit_id uuid references app_public.units
);
create function app_public.door_create() returns void language plpgsql as $$
begin
  -- app_public.windows;
  insert into app_public.doors default values;
end $$;
comment on column app_public.doors.id is E'@filtr first\\nId.';
comment on column app_public.doors.id is
  E'@filtr ids\\nId.';
comment on function app_public.door_create() is '@mutation
@parm id';
create policy select_graph_app on app_public.doors for select to graph_app using (true);
`;

test.each<[object: string, said: string[], line: number | null]>([
  ['app_public.doors', [], 6],
  ['app_public.doors.id', [], 7],
  ['app_public.doors."my name"', [], 8],
  ['doors_unit_id_fkey on app_public.doors', [], 6],
  ['select_graph_app on app_public.doors', [], 21],
  ['app_public.door_create()', [], 11],
  ['app_public.door_create()', ['@parm id', '@parm'], 20],
  ['app_public.doors.id', ['@filtr names', '@filtr'], 18],
  ['app_public.doors.id', ['@other'], 7],
  ['app_public.door', [], null],
  ['app_public.windows', [], 13],
  ['graph_app', [], 21],
  ['graph_intruder', [], null],
  ['app_public."a.*(b"', [], null],
])('%s, of which %j is said, is in line %j', async (object, said, line) => {
  expect(await lineOf(migration, object, said)).toBe(line);
});
