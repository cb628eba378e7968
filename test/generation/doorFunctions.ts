import { define, doors, sqlBody } from './doors.ts';

const types = `
  create type app_public.door_colour as enum ('red', 'green');
  create domain app_public.label as text constraint label_length check (char_length(value) <= 5);
  create type app_public.door_size as (width numeric, height numeric);
  create type app_public.door_input as (
    unit_id uuid, name text, note text, tags text[], size app_public.door_size, colour app_public.door_colour);
  comment on type app_public.door_input is 'A door to be added.';
  comment on column app_public.door_input.unit_id is E'@type {Unit}\\n@notNull\\nThe unit that it belongs to.';
  comment on column app_public.door_input.name is E'@notNull\\nName.';
  create type app_public.door_changes as (name text, note text, tags text[], unit_id uuid);
  comment on column app_public.door_changes.unit_id is '@type {Unit}';
  create type app_public.door_key as (id uuid, name text);
  comment on type app_public.door_key is E'@oneOf\\nWhich door.';
  comment on column app_public.door_key.id is '@type {Door}';`;

const fields = [
  define(
    'units_doors_named(unit app_public.units, prefix text)',
    `returns setof app_public.doors ${sqlBody('select * from app_public.doors d where d.unit_id = unit.id and starts_with(d.name, prefix)', 'stable')}`,
    '@param prefix What the names begin with.\nDoors of the unit by their names.',
  ),
  define(
    "units_door_names(unit app_public.units, prefix text default null, suffix text default '!')",
    `returns setof text ${sqlBody("select d.name || coalesce(suffix, ' null') from app_public.doors d where d.unit_id = unit.id and starts_with(d.name, coalesce(prefix, '')) order by 1", 'stable')}`,
    'Names of doors.',
  ),
  define(
    'units_products(unit app_public.units, factors integer[], "by" integer default 2)',
    `returns integer[] ${sqlBody('select array(select f * "by" from unnest(factors) f)', 'stable')}`,
    'Numbers.',
  ),
  define(
    'units_greeting(unit app_public.units, greeting text, "Whom" text default \'you\')',
    `returns text ${sqlBody("select greeting || ' ' || coalesce(\"Whom\", 'null')", 'stable')}`,
    'A text.',
  ),
  define(
    'units_strict(unit app_public.units, "constructor" text, note text default \'none\')',
    `returns text strict ${sqlBody('select "constructor" || note', 'stable')}`,
    'A text, or null.',
  ),
  define(
    'units_is_near(unit app_public.units, others uuid[], other uuid default null)',
    `returns boolean ${sqlBody('select unit.id = any (others) or unit.id = other', 'stable')}`,
    '@param {Unit} others Units.\n@param {Unit} other A unit.\nWhether it is one of them.',
  ),
  define(
    'units_lengths(unit app_public.units, above integer default 0)',
    `returns table (name text, length integer) ${sqlBody('select d.name, char_length(d.name) from app_public.doors d where d.unit_id = unit.id and char_length(d.name) >= above order by 1', 'stable')}`,
    'How long the names of the doors are.',
  ),
  define(
    'units_sizes(unit app_public.units, widths numeric[])',
    `returns setof app_public.door_size ${sqlBody('select w, w * 2 from unnest(widths) w', 'stable')}`,
    'Sizes.',
  ),
].join('\n');

const insertDoors =
  "insert into app_public.doors (unit_id, name, note, tags) select d.unit_id, d.name, coalesce(d.note, (d.size).width || 'x' || (d.size).height, d.colour::text), coalesce(d.tags, '{}')";

const mutations = [
  define(
    'door_create(door app_public.door_input)',
    `returns app_public.doors ${sqlBody(`${insertDoors} from (select door.*) d returning *`)}`,
    '@mutation\n@param door The door.\nAdds a door.',
  ),
  define(
    'doors_create(doors app_public.door_input[])',
    `returns setof app_public.doors ${sqlBody(`${insertDoors} from unnest(doors) d returning *`)}`,
    '@mutation\nAdds doors.',
  ),
  define(
    'doors_array(doors app_public.door_input[])',
    `returns app_public.doors[] ${sqlBody(`with added as (${insertDoors} from unnest(doors) d returning *) select array_agg(added::text::app_public.doors) from added`)}`,
    '@mutation\nAdds doors.',
  ),
  define(
    'door_update(door uuid, changes jsonb)',
    `returns app_public.doors ${sqlBody(`update app_public.doors d set (name, note, tags, unit_id) =
       (select c.name, c.note, c.tags, c.unit_id from jsonb_populate_record(
          row (d.name, d.note, d.tags, d.unit_id)::app_public.door_changes, changes) c)
       where d.id = door_update.door returning *`)}`,
    '@mutation\n@param {Door} door The door.\n@param {DoorChange} changes What changes.\nChanges a door.',
  ),
  define(
    'doors_named(keys uuid[])',
    `returns setof text ${sqlBody('select d.name from unnest(keys) with ordinality k (id, n) join app_public.doors d using (id) order by n')}`,
    '@mutation\n@param {Door} keys Doors.\nNames of doors.',
  ),
  define(
    'doors_count(names text[] default null)',
    `returns integer ${sqlBody('select count(*)::integer from app_public.doors where names is null or name = any (names)')}`,
    '@mutation\nCounts doors.',
  ),
  define('names_array()', `returns text[] ${sqlBody("select array['a', null]")}`, '@mutation\nAn array.'),
  define(
    'door_forget(key app_public.door_key)',
    `returns void ${sqlBody('delete from app_public.doors where id = key.id or name = key.name')}`,
    '@mutation\nForgets a door.',
  ),
  define(
    'door_measure(width numeric default 1)',
    `returns app_public.door_size ${sqlBody('select width, width * 2')}`,
    '@mutation\nMeasures.',
  ),
  define(
    'doors_measure(widths numeric[])',
    `returns setof app_public.door_size ${sqlBody('select w, w * 2 from unnest(widths) w')}`,
    '@mutation\nMeasures.',
  ),
  define(
    'door_sides(width integer, out "left" integer, out "right" integer)',
    sqlBody('select width, -width'),
    '@mutation\nTwo numbers.',
  ),
  define(
    'door_rows(above integer)',
    `returns table (id integer, name text) ${sqlBody("select above, 'a'")}`,
    '@mutation\nRows of its own.',
  ),
  define(
    `echo(n numeric default 0, b bytea default '', i interval default '0', d app_public.label default '', r int4range default 'empty',
          j jsonb default null, e app_public.door_colour default 'red', t timestamptz default null, z boolean default null)`,
    `returns text ${sqlBody("select concat_ws(' ', n, b, i, d, r, j, e, t at time zone 'UTC', z)")}`,
    '@mutation\nSays what it was given.',
  ),
  define(
    'names("__proto__" text, "constructor" text, "Two words" text)',
    `returns text ${sqlBody('select "__proto__" || "constructor" || "Two words"')}`,
    '@mutation\nTakes what JavaScript knows.',
  ),
  define(
    'owner_name()',
    `returns text ${sqlBody('select current_user::text')} security definer`,
    '@mutation\nRuns as its owner.',
  ),
].join('\n');

/** The doors, with a function of each kind that takes or returns them. */
export const doorFunctions = [doors, types, fields, mutations].join('\n');
