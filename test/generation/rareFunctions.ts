import { define, doors, sqlBody } from './doors.ts';

const types = `
  create domain app_public.short as text check (char_length(value) < 10);
  create domain app_public.texts as text[] check (cardinality(value) < 3);
  create type app_public.colour as enum ('red', 'green');
  create type app_public.part as (label app_public.short, colours app_public.colour[], more jsonb, span int4range, wait interval, raw bytea, n numeric, ok boolean);
  create type app_public.whole as (name text, part app_public.part, parts app_public.part[], units uuid[]);
  comment on column app_public.whole.units is '@type {Unit}';
  create domain app_public.named_whole as app_public.whole check ((value).name is not null);
  create type app_public.door_patch as (name text, note text);
  grant usage on type app_public.short to graph_app;`;

const functions = [
  define(
    'whole_text(whole app_public.whole)',
    `returns text ${sqlBody('select whole::text')}`,
    '@mutation\nAs PostgreSQL sees it.',
  ),
  define(
    'whole_json(whole jsonb)',
    `returns jsonb ${sqlBody('select whole')}`,
    '@mutation\n@param {Whole} whole Anything.\nAs JSON.',
  ),
  define(
    'wholes_json(wholes jsonb[] default null)',
    `returns setof text ${sqlBody("select string_agg(k, ',' order by k) from unnest(wholes) with ordinality w (w, n), jsonb_object_keys(w) k group by n order by n")}`,
    '@mutation\n@param {WholeInput} wholes Anything.\nThe keys of each.',
  ),
  define(
    'whole_back(whole jsonb)',
    `returns app_public.whole ${sqlBody('select jsonb_populate_record(null::app_public.whole, whole)')}`,
    '@mutation\n@param {Whole} whole Anything.\nThere and back.',
  ),
  define(
    'domains(texts app_public.texts, short app_public.short default null, whole app_public.named_whole default null)',
    `returns text ${sqlBody("select concat_ws(' ', texts::text, short, (whole).name)")}`,
    '@mutation\nTakes domains.',
  ),
  define(
    'door_patch(door app_public.door_patch)',
    `returns app_public.doors ${sqlBody('select null::app_public.doors')}`,
    '@mutation\nReturns no row.',
  ),
  define(
    'door_row(door app_public.doors)',
    `returns text ${sqlBody("select concat_ws(' ', door.organization_id is null, door.name, door.tags::text)")}`,
    '@mutation\nTakes a row.',
  ),
  define(
    'card_text(card uuid, others uuid[] default null)',
    `returns text ${sqlBody("select concat_ws(' ', card, cardinality(others))")}`,
    '@mutation\n@param {Card} card A card of any type.\n@param {NfcCard} others Cards of one type.\nTakes cards.',
  ),
  define(
    'cards_all(first integer default 100)',
    `returns setof app_public.cards ${sqlBody('select * from app_public.cards order by name limit "first"')}`,
    '@mutation\nReturns rows of an interface.',
  ),
  define(
    'card_any(name text)',
    `returns app_public.cards ${sqlBody('select * from app_public.cards c where c.name = card_any.name')}`,
    '@mutation\nReturns a row of an interface.',
  ),
  define(
    'nothing(gone text)',
    `returns void ${sqlBody('delete from app_public.doors where name = gone')}`,
    '@mutation\n@deprecated Use another.\nDeletes.',
  ),
  define('unnamed(text)', `returns text ${sqlBody('select $1')}`, '@mutation\nHas no names.'),
  define(
    'units_first(unit app_public.units, first integer)',
    `returns text ${sqlBody('select \'first \' || "first"', 'stable')}`,
    'Not a page.',
  ),
  define(
    'units_list(unit app_public.units, times integer, word text)',
    `returns setof text ${sqlBody('select word || g from generate_series(1, times) g', 'stable')}`,
    'Not a page.',
  ),
  define(
    'units_whole(unit app_public.units, whole app_public.whole, patch jsonb default null)',
    `returns text ${sqlBody("select concat_ws(' ', unit.name, (whole).name, ((whole).part).label, patch)", 'stable')}`,
    '@param {DoorPatch} patch A patch.\nTakes input objects.',
  ),
  define(
    'units_other(unit app_public.units, other app_public.units)',
    `returns text ${sqlBody("select unit.name || ' ' || coalesce(other.name, '?')", 'stable')}`,
    'Takes a row.',
  ),
  define(
    'units_json(unit app_public.units, value jsonb)',
    `returns jsonb ${sqlBody('select value', 'stable')}`,
    'Takes JSON.',
  ),
  define(
    'app_units_named(app app_public.app, names text[], "notNames" text[] default null)',
    `returns setof app_public.units ${sqlBody('select * from app_public.units u where u.name = any (names) and u.name <> all (coalesce("notNames", \'{}\'))', 'stable')}`,
    'Units by their names.',
  ),
  define(
    'part_text(part app_public.part)',
    `returns text ${sqlBody("select 'part ' || (part).label", 'stable')}`,
    'Of a composite type.',
  ),
].join('\n');

/** The doors, with functions of shapes that are seldom. */
export const rareFunctions = [doors, types, functions].join('\n');
