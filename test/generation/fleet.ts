// The migrations of another team: a fleet of vehicles and where it parks, written from the documents alone. Its eight tables have a key of
// each kind and columns of the rarer types.

const appTags =
  '@foreignKey (organization_id) references app_public.app (organization_id)|@forwardBehavior -*|@backwardBehavior -list +connection';

/** What the guide teaches for every table: how it is reached, and who sees and changes what; then the history and the feed. */
function secured(table: string, story: string, { ofPerson = 'false', record = '', follow = '' } = {}): string {
  const ofOrganization = 'organization_id = (select app_hidden.current_organization_id())';
  return String.raw`
comment on table app_public.${table} is
  E'${appTags}|@foreignFieldName ${table}|@backwardDescription All ${table} of the organization.\n${story}';
alter table app_public.${table} enable row level security, force row level security;
create policy all_graph_admin on app_public.${table} for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_public.${table} is 'Administration sees and changes all ${table}.';
create policy select_graph_app on app_public.${table} for select to graph_app using (${ofOrganization});
comment on policy select_graph_app on app_public.${table} is 'An application sees the ${table} of its organization.';
create policy insert_graph_app on app_public.${table} for insert to graph_app with check (${ofOrganization});
comment on policy insert_graph_app on app_public.${table} is 'An application adds ${table} to its own organization only.';
create policy update_graph_app on app_public.${table} for update to graph_app using (${ofOrganization}) with check (${ofOrganization});
comment on policy update_graph_app on app_public.${table} is 'An application changes the ${table} of its organization.';
create policy delete_graph_app on app_public.${table} for delete to graph_app using (${ofOrganization});
comment on policy delete_graph_app on app_public.${table} is 'An application deletes ${table} of its organization.';
create policy select_graph_user on app_public.${table} for select to graph_user using (${ofOrganization} and ${ofPerson});
comment on policy select_graph_user on app_public.${table} is 'A person sees the ${table} of their own, if any.';
create policy select_graph_basic on app_public.${table} for select to graph_basic using (false);
comment on policy select_graph_basic on app_public.${table} is 'A basic token reads no row.';
grant select, insert, update, delete on app_public.${table} to graph_admin, graph_app;
grant select on app_public.${table} to graph_user, graph_basic;
select audit.record('app_public.${table}'${record});
select feed.follow('app_public.${table}'${follow});`;
}

/** A foreign key, as a field of both sides. */
const related = (table: string, column: string, field: string, argument: string) =>
  String.raw`
comment on constraint ${table}_${column}_fkey on app_public.${table} is
  E'@fieldName ${field}\n@foreignFieldName ${table}\n@forwardDescription The ${field}.\n@backwardDescription Its ${table}.\n@argument ${argument}\nThere is no such ${field}.';`.trim();

/** A function that applications call as a mutation. Its tags are one a line. */
const mutation = (table: string, signature: string, tags: string, body: string, set = '') => String.raw`
create or replace function app_public.${signature} returns ${set}app_public.${table} ${body};
comment on function app_public.${nameIn(signature)} is E'@mutation\n${tags.replaceAll(/\n\s*/g, '\\n')} Needs an app token (scope \`app\`).';
grant execute on function app_public.${nameIn(signature)} to graph_app;`;

const computed = (signature: string, returns: string, story: string, query: string) => `
create function app_public.${signature} returns ${returns} language sql stable ${pinned} as $$ ${query} $$;
comment on function app_public.${nameIn(signature)} is '${story}';
grant execute on function app_public.${nameIn(signature)} to graph_app, graph_user, graph_basic;`;

const nameIn = (signature: string) => signature.slice(0, signature.indexOf('('));
const pinned = 'set search_path = pg_catalog, pg_temp';
const sql = (query: string) => `language sql volatile ${pinned} as $$ ${query} $$`;
const organization = '(select app_hidden.current_organization_id())';
/** Adds a row; a column has the parameter of its name, or the one behind `=`. */
const adds = (name: string, table: string, columns: readonly string[], more = '') => {
  const pairs = columns.map((column) => column.split('='));
  return sql(`
    insert into app_public.${table} (organization_id, ${pairs.map(([column]) => column).join(', ')})
    values (${organization}, ${pairs.map(([column, from = column]) => `${name}.${from}`).join(', ')}) ${more}
    returning *`);
};

/** Changes the row `t`, or deletes it, and says so when there is none. */
const changes = (table: string, what: string, where: string, set?: string) => `language plpgsql volatile ${pinned} as $$
  declare
    found_row app_public.${table};
  begin
    ${set ? `update app_public.${table} t set ${set}` : `delete from app_public.${table} t`}
    where t.organization_id = ${organization} and ${where} returning * into found_row;
    if not found then
      raise no_data_found using message = 'There is no such ${what}';
    end if;
    return found_row;
  end $$`;

/** The mutations whose columns the later migration renames. */
const renamable = ({
  seen = 'last_seen_at',
  pin = 'pin_hash',
  number = 'number',
  note = 'color',
  day = 'day',
} = {}) => [
  mutation(
    'vehicles',
    'vehicle_update(id app_public.plate, changes jsonb)',
    '@param {Vehicle} id The vehicle.\n@param {VehicleChange} changes What changes.\nChanges a vehicle.',
    changes(
      'vehicles',
      'vehicle',
      't.plate = vehicle_update.id',
      `(keeper, seats, worth, equipment, tags, parts, ${seen}) = (
        select c.keeper, c.seats, c.worth, c.equipment, c.tags, c.parts, c.seen_at
        from jsonb_populate_record(
          row (t.keeper, t.seats, t.worth, t.equipment, t.tags, t.parts, t.${seen})::app_public.vehicle_change, changes) c)`,
    ),
  ),
  mutation(
    'vehicles',
    'vehicle_pin(id app_public.plate, pin text)',
    '@param {Vehicle} id The vehicle.\n@param pin The PIN.\nSets the PIN.',
    changes(
      'vehicles',
      'vehicle',
      't.plate = vehicle_pin.id',
      `${pin} = encode(sha256(convert_to(pin, 'UTF8')), 'hex')`,
    ),
  ),
  mutation(
    'permits',
    `permit_issue(number app_public.permit_number, vehicle_id app_public.electric_plate, user_id uuid default null, ${note} text default null)`,
    `@param number Number of the permit, 1000 to 9999.\n@param {Vehicle} vehicleId The electric vehicle that it is for.
    @param {User} userId Who may use it.\n@param ${note} Its ${note}.\nIssues a permit.`,
    adds('permit_issue', 'permits', [`${number}=number`, 'plate=vehicle_id', 'user_id', note]),
  ),
  mutation(
    'chargings',
    'charging_record(plate app_public.electric_plate, day date, energy app_public.speed, odometer app_public.metres default null, paid app_public.price default null)',
    '@param plate The plate.\n@param day The day.\n@param energy kWh.\n@param odometer In m.\n@param paid What it cost.\nAdds a charging.',
    adds('charging_record', 'chargings', ['plate', `${day}=day`, 'energy', 'odometer', 'paid']),
  ),
];

const mutations = [
  mutation(
    'tariffs',
    'tariff_set(drive app_public.drive, hourly app_public.price, grace interval, free_hours int4multirange)',
    `@param drive The drive.\n@param hourly What an hour costs.\n@param grace How long parking is free.
    @param freeHours Hours of the day that are free.\nSets a tariff.`,
    adds(
      'tariff_set',
      'tariffs',
      ['drive', 'hourly', 'grace', 'free_hours'],
      'on conflict (organization_id, drive) do update set hourly = excluded.hourly, grace = excluded.grace, free_hours = excluded.free_hours',
    ),
  ),
  mutation(
    'garages',
    'garage_open(unit_id uuid, name public.citext, place public.ltree, open tstzmultirange, gateway inet default null)',
    `@param {Unit} unitId The unit.\n@param name Name, unique in any case.\n@param place Path of the place.
    @param open When it is open.\n@param gateway Address of the gateway.\nOpens a garage.`,
    adds('garage_open', 'garages', ['unit_id', 'name', 'place', 'open', 'gateway']),
  ),
  mutation(
    'spots',
    'spots_add(garage_id uuid, spots app_public.spot_input[])',
    '@param {Garage} garageId The garage.\n@param spots The spots: at most 1,000.\nAdds spots, all of them or none.',
    sql(`
    insert into app_public.spots (organization_id, garage_id, number, extent, drive)
    select ${organization}, spots_add.garage_id, s.number, s.bay, s.drive
    from unnest(spots_add.spots) with ordinality s (number, bay, drive, place) order by s.place
    returning *`),
    'setof ',
  ),
  mutation(
    'vehicles',
    'vehicle_register(vehicle app_public.vehicle_input)',
    '@param vehicle The vehicle.\nAdds a vehicle.',
    sql(`
    insert into app_public.vehicles (organization_id, plate, drive, keeper, seats, mass, length, worth, consent, equipment, tags, parts, tracker, firmware)
    select ${organization}, v.* from (select (vehicle_register.vehicle).*) v
    returning *`),
  ),
  mutation(
    'vehicles',
    'vehicle_tag(id app_public.plate, tags app_public.tag[])',
    '@param {Vehicle} id The vehicle.\n@param tags Its tags.\nTags a vehicle.',
    changes('vehicles', 'vehicle', 't.plate = vehicle_tag.id', 'tags = vehicle_tag.tags'),
  ),
  mutation(
    'vehicles',
    'vehicle_retire(id app_public.plate)',
    '@param {Vehicle} id The vehicle.\nTakes a vehicle out of the fleet.',
    changes('vehicles', 'vehicle', 't.plate = vehicle_retire.id'),
  ),
  mutation(
    'positions',
    'position_report(plate app_public.plate, moment timestamptz, speed app_public.speed default null, raw bytea default null, wal pg_lsn default null)',
    '@param plate The plate.\n@param moment When.\n@param speed In km/h.\n@param raw As it was sent.\n@param wal Of the sender.\nAdds a position.',
    adds('position_report', 'positions', ['plate', 'moment', 'speed', 'raw', 'wal']),
  ),
  mutation(
    'positions',
    'position_correct(id app_public.position_key, moment timestamptz, speed app_public.speed)',
    '@param {Position} id The position.\n@param moment When.\n@param speed In km/h.\nCorrects a position.',
    changes(
      'positions',
      'position',
      't.plate = (id).plate and t.moment = (id).moment',
      'moment = position_correct.moment, speed = position_correct.speed',
    ),
  ),
  mutation(
    'reservations',
    'spot_reserve(spot_id bigint, vehicle_id app_public.plate, during tstzrange, note text default null)',
    `@param {Spot} spotId The spot.\n@param {Vehicle} vehicleId The vehicle.\n@param during From when until when.
    @param note A note.\nReserves a spot.`,
    adds('spot_reserve', 'reservations', ['spot_id', 'plate=vehicle_id', 'during', 'note']),
  ),
  mutation(
    'reservations',
    'reservation_cancel(id uuid)',
    '@param {Reservation} id The reservation.\nCancels a reservation.',
    changes('reservations', 'reservation', 't.id = reservation_cancel.id'),
  ),
];

/** The first migration. It drops what it creates, the latest first, as the guide asks. */
export const fleet = String.raw`
-- squawk-ignore-file ban-create-domain-with-constraint, require-concurrent-index-creation
drop function if exists app_public.tariff_set, app_public.garage_open, app_public.spots_add, app_public.vehicle_register,
  app_public.vehicle_update, app_public.vehicle_tag, app_public.vehicle_pin, app_public.vehicle_retire, app_public.permit_issue,
  app_public.position_report, app_public.position_correct, app_public.spot_reserve, app_public.reservation_cancel,
  app_public.charging_record, app_public.vehicles_energy, app_public.spots_bay, app_public.garages_bays;
drop materialized view if exists app_hidden.vehicle_energies;
drop table if exists app_public.chargings, app_public.reservations, app_public.positions, app_public.permits, app_public.vehicles,
  app_public.spots, app_public.garages, app_public.tariffs;
drop type if exists app_public.vehicle_change, app_public.vehicle_input, app_public.spot_input, app_public.position_key, app_public.part;
drop domain if exists app_public.bay;
drop type if exists app_public.extent, app_public.drive;
drop domain if exists app_public.permit_number, app_public.tag, app_public.equipment, app_public.consent, app_public.price,
  app_public.metres, app_public.speed, app_public.seats, app_public.kilograms, app_public.electric_plate, app_public.plate;

create extension if not exists citext with schema public;
create extension if not exists ltree with schema public;
create extension if not exists btree_gist with schema public;
-- By which the graph finds, orders, reads and writes values, and the function of a check.
grant execute on function
  public.citext_eq(public.citext, public.citext), public.citext_lt(public.citext, public.citext), public.citext_le(public.citext, public.citext),
  public.citext_gt(public.citext, public.citext), public.citext_ge(public.citext, public.citext),
  public.ltree_eq(public.ltree, public.ltree), public.ltree_lt(public.ltree, public.ltree), public.ltree_le(public.ltree, public.ltree),
  public.ltree_gt(public.ltree, public.ltree), public.ltree_ge(public.ltree, public.ltree), public.ltree_out(public.ltree)
  to graph_app, graph_user, graph_basic;
grant execute on function public.nlevel(public.ltree), public.ltree_in(cstring) to graph_app;

create domain app_public.plate as text collate "C" constraint plate_form check (value ~ '^[A-Z]{1,3}-[A-Z]{1,2} [0-9]{1,4}E?$');
comment on domain app_public.plate is 'A number plate, such as B-GQ 2026.';
comment on constraint plate_form on domain app_public.plate is 'A number plate has a form such as B-GQ 2026.';
create domain app_public.electric_plate as app_public.plate constraint electric_plate_ends check (value like '%E');
comment on constraint electric_plate_ends on domain app_public.electric_plate is 'The number plate of an electric vehicle ends in E.';
create domain app_public.kilograms as integer constraint kilograms_bounds check (value between 1 and 60000);
comment on constraint kilograms_bounds on domain app_public.kilograms is 'A mass is from 1 to 60,000 kg.';
create domain app_public.seats as smallint constraint seats_bounds check (value between 1 and 120);
comment on constraint seats_bounds on domain app_public.seats is 'There are 1 to 120 seats.';
create domain app_public.speed as real constraint speed_bounds check (value >= 0 and value <= 400);
comment on constraint speed_bounds on domain app_public.speed is 'A speed is from 0 to 400 km/h.';
create domain app_public.metres as double precision constraint metres_bounds check (value > 0 and value < 'Infinity');
comment on constraint metres_bounds on domain app_public.metres is 'A length is above 0 m.';
create domain app_public.price as numeric(8, 2) constraint price_bounds check (value >= 0 and value < 'NaN');
comment on constraint price_bounds on domain app_public.price is 'A price is not below 0.';
create domain app_public.consent as boolean constraint consent_given check (value);
comment on constraint consent_given on domain app_public.consent is 'A consent is given or absent.';
create domain app_public.equipment as jsonb constraint equipment_object check (jsonb_typeof(value) = 'object');
comment on constraint equipment_object on domain app_public.equipment is 'The equipment is an object.';
create domain app_public.tag as text collate "C" constraint tag_form check (value ~ '^[a-z]{2,20}$');
comment on constraint tag_form on domain app_public.tag is 'A tag has 2 to 20 small letters.';
create domain app_public.permit_number as integer constraint permit_number_digits check (value between 1000 and 9999);
comment on constraint permit_number_digits on domain app_public.permit_number is 'A permit has a number of four digits.';
create type app_public.drive as enum ('petrol', 'diesel', 'electric', 'plug-in');
comment on type app_public.drive is E'@value plug-in Electric, with an engine for long ways.\nWhat drives a vehicle.';
create type app_public.extent as (length app_public.metres, width app_public.metres);
comment on type app_public.extent is 'A length and a width in metres.';
create domain app_public.bay as app_public.extent constraint bay_longer check ((value).length >= (value).width);
comment on constraint bay_longer on domain app_public.bay is 'A bay is at least as long as it is wide.';
create type app_public.part as (name text, mass app_public.kilograms, fitted_on date, codes smallint[]);
comment on type app_public.part is 'A part of a vehicle.';
comment on column app_public.part.name is E'@notNull\nName.';

-- What an hour costs depends on the drive, so that the drive is the key.
create table app_public.tariffs (
  organization_id uuid not null,
  drive app_public.drive not null,
  hourly app_public.price not null,
  grace interval not null,
  free_hours int4multirange not null default '{}',
  constraint tariffs_pkey primary key (organization_id, drive)
);
create index tariffs_hourly_idx on app_public.tariffs (organization_id, hourly, drive);
comment on column app_public.tariffs.hourly is E'@filter hourlyFrom from\n@filter hourlyUntil until\nWhat an hour costs.';
${secured('tariffs', 'What an hour costs, by drive.')}

-- A garage belongs to a unit. Its name is unique in any case, and its place is a path.
create table app_public.garages (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  unit_id uuid not null,
  name public.citext not null,
  place public.ltree not null,
  open tstzmultirange not null default '{}',
  gateway inet,
  constraint garages_pkey primary key (organization_id, id),
  constraint garages_unit_id_fkey foreign key (organization_id, unit_id) references app_public.units on delete cascade,
  constraint garages_name_key unique (organization_id, name),
  constraint garages_name_text check (app_hidden.is_text(name::text)),
  constraint garages_place_depth check (public.nlevel(place) between 1 and 4)
);
create index garages_unit_id_idx on app_public.garages (organization_id, unit_id, id);
create index garages_place_idx on app_public.garages (organization_id, place, id);
create index garages_gateway_idx on app_public.garages (organization_id, (gateway is not null), gateway);
comment on column app_public.garages.name is E'@filter names\nName.';
comment on column app_public.garages.place is E'@filter places\nPath of the place.';
comment on column app_public.garages.gateway is E'@filter gateways\n@filter hasNoGateway isNull\nAddress of the gateway.';
${related('garages', 'unit_id', 'unit', 'unitId')}
comment on constraint garages_name_key on app_public.garages is E'@argument name\nAnother garage has this name.';
comment on constraint garages_name_text on app_public.garages is E'@argument name\nA name has 1 to 200 characters.';
comment on constraint garages_place_depth on app_public.garages is E'@argument place\nA place has 1 to 4 levels.';
${secured('garages', 'A garage of a unit.')}

-- PostgreSQL numbers the spots. A spot has room for what its extent says, and may be for one drive only.
create table app_public.spots (
  organization_id uuid not null,
  id bigint generated always as identity,
  garage_id uuid not null,
  number integer not null,
  extent app_public.extent not null,
  drive app_public.drive,
  constraint spots_pkey primary key (organization_id, id),
  constraint spots_garage_id_fkey foreign key (organization_id, garage_id) references app_public.garages on delete cascade,
  constraint spots_drive_fkey foreign key (organization_id, drive) references app_public.tariffs,
  constraint spots_number_key unique (organization_id, garage_id, number)
);
create index spots_drive_idx on app_public.spots (organization_id, drive, id);
create index spots_number_idx on app_public.spots (organization_id, number, id);
comment on column app_public.spots.drive is E'@behavior +attribute:select\nThe only drive that may park here.';
comment on column app_public.spots.number is E'@filter numbers\nWhat is painted on the ground.';
${related('spots', 'garage_id', 'garage', 'garageId')}
${related('spots', 'drive', 'tariff', 'drive')}
comment on constraint spots_number_key on app_public.spots is E'@argument number\nThe garage has a spot of this number.';
${secured('spots', 'A parking spot.')}

-- The plate names a vehicle. The hash of its PIN is no field of the graph, and no value of the history.
create table app_public.vehicles (
  organization_id uuid not null,
  plate app_public.plate not null,
  drive app_public.drive not null,
  keeper public.citext,
  seats app_public.seats not null default 5,
  mass app_public.kilograms,
  length app_public.metres,
  worth app_public.price,
  consent app_public.consent,
  equipment app_public.equipment,
  tags app_public.tag[],
  parts app_public.part[],
  tracker inet,
  firmware bytea,
  district text collate "C" generated always as (split_part(plate, '-', 1)) stored,
  pin_hash text,
  last_seen_at timestamptz,
  constraint vehicles_pkey primary key (organization_id, plate),
  constraint vehicles_keeper_text check (app_hidden.is_text(keeper::text)),
  constraint vehicles_firmware_length check (octet_length(firmware) <= 1000),
  constraint vehicles_tags_count check (cardinality(tags) <= 10)
);
create index vehicles_drive_idx on app_public.vehicles (organization_id, drive, plate);
create index vehicles_keeper_idx on app_public.vehicles (organization_id, (keeper is not null), keeper);
create index vehicles_seats_idx on app_public.vehicles (organization_id, seats, plate);
create index vehicles_worth_idx on app_public.vehicles (organization_id, (worth is not null), worth);
create index vehicles_length_idx on app_public.vehicles (organization_id, (length is not null), length);
create index vehicles_district_idx on app_public.vehicles (organization_id, (district is not null), district);
comment on column app_public.vehicles.plate is E'@filter plates\n@filter platePrefix prefix\nNumber plate.';
comment on column app_public.vehicles.drive is E'@filter drives\nDrive.';
comment on column app_public.vehicles.keeper is E'@personalData\n@filter keepers\n@filter hasNoKeeper isNull\nWho keeps it.';
comment on column app_public.vehicles.seats is E'@filter seatsFrom from\n@filter seatsUntil until\nSeats.';
comment on column app_public.vehicles.mass is E'@filter masses\nMass in kg.';
comment on column app_public.vehicles.length is E'@filter lengthFrom from\nLength in m.';
comment on column app_public.vehicles.worth is E'@filter worths\nWhat it is worth.';
comment on column app_public.vehicles.consent is E'@filter hasConsent is\nWhether the keeper agrees to be tracked.';
comment on column app_public.vehicles.district is E'@filter districts\nFirst letters of the plate.';
comment on column app_public.vehicles.pin_hash is E'@behavior -*\nSHA-256 of the PIN.';
comment on constraint vehicles_pkey on app_public.vehicles is E'@argument plate\nAnother vehicle has this plate.';
comment on constraint vehicles_keeper_text on app_public.vehicles is E'@argument keeper\nA keeper has 1 to 200 characters.';
comment on constraint vehicles_tags_count on app_public.vehicles is E'@argument tags\nA vehicle has at most ten tags.';
${secured('vehicles', 'A vehicle of the fleet.', { record: ", secrets => '{pin_hash}'", follow: ", ignored => '{last_seen_at}'" })}

-- A permit is for one electric vehicle, and may be a person's.
create table app_public.permits (
  organization_id uuid not null,
  number app_public.permit_number not null,
  plate app_public.electric_plate not null,
  user_id uuid,
  color text collate "C",
  constraint permits_pkey primary key (organization_id, number),
  constraint permits_plate_fkey foreign key (organization_id, plate) references app_public.vehicles on delete cascade,
  constraint permits_user_id_fkey foreign key (organization_id, user_id) references app_public.users on delete cascade,
  constraint permits_color_text check (app_hidden.is_text(color))
);
create index permits_plate_idx on app_public.permits (organization_id, plate, number);
create index permits_user_id_idx on app_public.permits (organization_id, user_id, number);
comment on column app_public.permits.number is E'@filter numbers\nNumber.';
${related('permits', 'plate', 'vehicle', 'vehicleId')}
${related('permits', 'user_id', 'user', 'userId')}
comment on constraint permits_pkey on app_public.permits is E'@argument number\nAnother permit has this number.';
${secured('permits', 'A permit to charge.', { ofPerson: 'user_id = (select app_hidden.current_user_id())', record: ", subject_id => 'user_id'" })}

-- Positions are many, so that each year has a partition.
create table app_public.positions (
  organization_id uuid not null,
  plate app_public.plate not null,
  moment timestamptz not null,
  speed app_public.speed,
  raw bytea,
  wal pg_lsn,
  constraint positions_pkey primary key (organization_id, plate, moment),
  constraint positions_plate_fkey foreign key (organization_id, plate) references app_public.vehicles on delete cascade,
  constraint positions_raw_length check (octet_length(raw) <= 100)
) partition by range (moment);
create table app_hidden.positions_2026 partition of app_public.positions for values from ('2026-01-01Z') to ('2027-01-01Z');
create table app_hidden.positions_2027 partition of app_public.positions for values from ('2027-01-01Z') to ('2028-01-01Z');
create index positions_moment_idx on app_public.positions (organization_id, moment, plate);
create policy all_graph_admin on app_hidden.positions_2026 for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_hidden.positions_2026 is 'Administration sees and changes all positions.';
create policy all_graph_admin on app_hidden.positions_2027 for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_hidden.positions_2027 is 'Administration sees and changes all positions.';
comment on table app_hidden.positions_2026 is 'Positions of 2026.';
comment on table app_hidden.positions_2027 is 'Positions of 2027.';
alter table app_hidden.positions_2026 enable row level security, force row level security;
alter table app_hidden.positions_2027 enable row level security, force row level security;
comment on column app_public.positions.moment is E'@filter momentFrom from\n@filter momentUntil until\n@filter moments\nWhen.';
${related('positions', 'plate', 'vehicle', 'plate')}
comment on constraint positions_pkey on app_public.positions is E'@argument moment\nThe position of this moment is known.';
${secured('positions', 'Where a vehicle was.')}

-- No two reservations of a spot overlap.
create table app_public.reservations (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  spot_id bigint not null,
  plate app_public.plate not null,
  during tstzrange not null,
  starts_at timestamptz generated always as (lower(during)) stored,
  note text collate "C",
  constraint reservations_pkey primary key (organization_id, id),
  constraint reservations_spot_id_fkey foreign key (organization_id, spot_id) references app_public.spots on delete cascade,
  constraint reservations_plate_fkey foreign key (organization_id, plate) references app_public.vehicles on delete cascade,
  constraint reservations_during_excl exclude using gist (organization_id with =, spot_id with =, during with &&),
  constraint reservations_during_bounded check (not (isempty(during) or lower_inf(during) or upper_inf(during))),
  constraint reservations_note_text check (app_hidden.is_text(note))
);
create index reservations_spot_id_idx on app_public.reservations (organization_id, spot_id, id);
create index reservations_plate_idx on app_public.reservations (organization_id, plate, id);
create index reservations_starts_at_idx on app_public.reservations (organization_id, (starts_at is not null), starts_at);
comment on column app_public.reservations.starts_at is E'@filter startsFrom from\n@filter startsUntil until\nBegin.';
comment on column app_public.reservations.note is E'@filter isWithoutNote isNull\nNote.';
${related('reservations', 'spot_id', 'spot', 'spotId')}
${related('reservations', 'plate', 'vehicle', 'vehicleId')}
comment on constraint reservations_during_excl on app_public.reservations is E'@argument during\nThe spot is taken.';
comment on constraint reservations_during_bounded on app_public.reservations is E'@argument during\nA reservation begins and ends.';
${secured('reservations', 'A spot of a vehicle for some time.')}

-- An electric vehicle charges at most once a day. What it took together is computed now and then.
create table app_public.chargings (
  organization_id uuid not null,
  plate app_public.electric_plate not null,
  day date not null,
  energy app_public.speed not null,
  odometer app_public.metres,
  paid app_public.price,
  constraint chargings_pkey primary key (organization_id, plate, day),
  constraint chargings_plate_fkey foreign key (organization_id, plate) references app_public.vehicles on delete cascade
);
create index chargings_day_idx on app_public.chargings (organization_id, day, plate);
create index chargings_energy_idx on app_public.chargings (organization_id, energy, plate, day);
comment on column app_public.chargings.day is E'@filter days\n@filter dayFrom from\nDay.';
comment on column app_public.chargings.energy is E'@filter energyFrom from\n@filter energyUntil until\nkWh.';
${related('chargings', 'plate', 'vehicle', 'plate')}
comment on constraint chargings_pkey on app_public.chargings is E'@argument day\nThe vehicle has charged on this day.';
${secured('chargings', 'What a vehicle charged on a day.')}
create materialized view app_hidden.vehicle_energies as
  select organization_id, plate, sum(energy) as energy, count(*) as days from app_public.chargings group by organization_id, plate;
create unique index vehicle_energies_plate_idx on app_hidden.vehicle_energies (organization_id, plate);
comment on materialized view app_hidden.vehicle_energies is 'What each vehicle has charged.';
grant select on app_hidden.vehicle_energies to graph_app;
${computed(
  'vehicles_energy(vehicle app_public.vehicles)',
  'real',
  'What it has charged, when that was last computed.',
  'select e.energy from app_hidden.vehicle_energies e where e.organization_id = vehicle.organization_id and e.plate = vehicle.plate',
).replace(', graph_user, graph_basic', '')}
${computed('spots_bay(spot app_public.spots)', 'app_public.bay', 'Its bay.', 'select spot.extent::app_public.bay')}
${computed(
  'garages_bays(garage app_public.garages)',
  'setof app_public.bay',
  'The bays of its spots, the longest first.',
  `select s.extent::app_public.bay from app_public.spots s
   where s.organization_id = garage.organization_id and s.garage_id = garage.id order by (s.extent).length desc, s.id`,
)}
insert into audit.accepted (kind, object, who, reason) values
  ('materialized_view', 'app_hidden.vehicle_energies', '', 'Only the field energy reads it, by the key of a vehicle that the caller sees.'),
  ('secret_readable', 'app_public.vehicles.pin_hash', '', 'Applications verify PINs, and no field of the graph shows it.')
on conflict do nothing;

create type app_public.spot_input as (number integer, bay app_public.bay, drive app_public.drive);
comment on type app_public.spot_input is 'A spot to be added.';
comment on column app_public.spot_input.number is E'@notNull\nWhat is painted on the ground.';
comment on column app_public.spot_input.bay is E'@notNull\nIts length and width.';
create type app_public.vehicle_input as (plate app_public.plate, drive app_public.drive, keeper public.citext, seats app_public.seats,
  mass app_public.kilograms, length app_public.metres, worth app_public.price, consent app_public.consent, equipment app_public.equipment,
  tags app_public.tag[], parts app_public.part[], tracker inet, firmware bytea);
comment on type app_public.vehicle_input is 'A vehicle to be added.';
comment on column app_public.vehicle_input.plate is E'@notNull\nNumber plate.';
comment on column app_public.vehicle_input.drive is E'@notNull\nDrive.';
comment on column app_public.vehicle_input.seats is E'@notNull\nSeats.';
create type app_public.vehicle_change as (keeper public.citext, seats app_public.seats, worth app_public.price,
  equipment app_public.equipment, tags app_public.tag[], parts app_public.part[], seen_at timestamptz);
comment on type app_public.vehicle_change is 'What changes of a vehicle. What is absent stays.';
create type app_public.position_key as (plate app_public.plate, moment timestamptz);
comment on type app_public.position_key is 'What names a position.';

${[...mutations, ...renamable()].join('')}
`;

/** A later migration: it renames a secret, an ignored column and two columns of keys, drops one column, and adds another and a value of an enum. */
export const renames = `
alter type app_public.drive add value if not exists 'hydrogen';
do $$
begin
  if exists (select from pg_attribute where attrelid = 'app_public.vehicles'::regclass and attname = 'pin_hash') then
    alter table app_public.vehicles rename pin_hash to pin_digest;
    alter table app_public.vehicles rename last_seen_at to seen_at;
    alter table app_public.permits rename number to permit_no;
    alter table app_public.permits drop color;
    alter table app_public.chargings rename day to charged_on;
  end if;
end $$;
select feed.follow('app_public.permits');
select feed.follow('app_public.chargings');
alter table app_public.permits add column if not exists zone text collate "C";
drop function if exists app_public.permit_issue;
${renamable({ seen: 'seen_at', pin: 'pin_digest', number: 'permit_no', note: 'zone', day: 'charged_on' }).join('')}
`;
