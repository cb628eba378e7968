--! Previous: sha1:28b975932780ff2425a546420008fca3105f0625
--! Hash: sha1:4ccd404ae0d9e677fed4ffc4e034d3b12cc219fa
--! Message: time zones

-- A time zone is an IANA name or the city alone, in any spelling: upper or lower case, spaces or underscores, with or without diacritics,
-- apostrophes and full stops. An unknown one is rejected with the nearest that is known, which a foreign key cannot name.
--
-- The names are those of an IANA release, and the cities that CLDR has beside them. The list is the same on every server and for all
-- organizations; no request changes it, and nothing asks PostgreSQL about a zone, which knows those of its own system. A name that a later
-- release adds is two rows, itself and its city: docs/operating.md. The rule stands in one place, for the trigger of users and for syncs.

create function app_hidden.time_zone_key(name text) returns text
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Without the combining marks of diacritics, and the marks in "Nukuʻalofa" and "St. John’s".
    return lower(translate(regexp_replace(normalize(name, nfd), e'[\u0300-\u036f.,''\u2018\u2019\u02bb]', '', 'g'), '_', ' ') collate "C");
  end
  $$;
comment on function app_hidden.time_zone_key(text) is 'By what two spellings of a time zone are the same.';

create table app_hidden.time_zones (
  name text collate "C" not null,
  key text collate "C" not null generated always as (app_hidden.time_zone_key(name)) stored,
  constraint time_zones_pkey primary key (name)
);
create index time_zones_key_idx on app_hidden.time_zones (key);
comment on table app_hidden.time_zones is 'Accepted time zones: IANA names (Europe/Berlin), their cities alone (Berlin, New York), and other cities of theirs (Beijing).';
comment on column app_hidden.time_zones.key is 'The name as app_hidden.time_zone_key has it.';

alter table app_hidden.time_zones enable row level security, force row level security;
create policy all_graph_admin on app_hidden.time_zones for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_hidden.time_zones is 'Administration keeps the list.';
create policy select_graph_app on app_hidden.time_zones for select to graph_app
  using ((select app_hidden.current_organization_id()) is not null);
comment on policy select_graph_app on app_hidden.time_zones is 'An application reads the list of time zones, which is the same for all organizations.';
grant select, insert, update, delete on app_hidden.time_zones to graph_admin;
grant select on app_hidden.time_zones to graph_app;

-- IANA 2026d, with its links, whatever the server's system has: `US/Eastern` and `GB` are in a package of their own on Debian 13.
insert into app_hidden.time_zones (name)
select (regexp_matches('
  Africa/Abidjan Africa/Accra Africa/Addis_Ababa Africa/Algiers Africa/Asmara Africa/Asmera Africa/Bamako Africa/Bangui Africa/Banjul Africa/Bissau
  Africa/Blantyre Africa/Brazzaville Africa/Bujumbura Africa/Cairo Africa/Casablanca Africa/Ceuta Africa/Conakry Africa/Dakar Africa/Dar_es_Salaam
  Africa/Djibouti Africa/Douala Africa/El_Aaiun Africa/Freetown Africa/Gaborone Africa/Harare Africa/Johannesburg Africa/Juba Africa/Kampala
  Africa/Khartoum Africa/Kigali Africa/Kinshasa Africa/Lagos Africa/Libreville Africa/Lome Africa/Luanda Africa/Lubumbashi Africa/Lusaka Africa/Malabo
  Africa/Maputo Africa/Maseru Africa/Mbabane Africa/Mogadishu Africa/Monrovia Africa/Nairobi Africa/Ndjamena Africa/Niamey Africa/Nouakchott
  Africa/Ouagadougou Africa/Porto-Novo Africa/Sao_Tome Africa/Timbuktu Africa/Tripoli Africa/Tunis Africa/Windhoek
  America/Adak America/Anchorage America/Anguilla America/Antigua America/Araguaina America/Argentina/Buenos_Aires America/Argentina/Catamarca
  America/Argentina/ComodRivadavia America/Argentina/Cordoba America/Argentina/Jujuy America/Argentina/La_Rioja America/Argentina/Mendoza
  America/Argentina/Rio_Gallegos America/Argentina/Salta America/Argentina/San_Juan America/Argentina/San_Luis America/Argentina/Tucuman
  America/Argentina/Ushuaia America/Aruba America/Asuncion America/Atikokan America/Atka America/Bahia America/Bahia_Banderas America/Barbados
  America/Belem America/Belize America/Blanc-Sablon America/Boa_Vista America/Bogota America/Boise America/Buenos_Aires America/Cambridge_Bay
  America/Campo_Grande America/Cancun America/Caracas America/Catamarca America/Cayenne America/Cayman America/Chicago America/Chihuahua
  America/Ciudad_Juarez America/Coral_Harbour America/Cordoba America/Costa_Rica America/Coyhaique America/Creston America/Cuiaba America/Curacao
  America/Danmarkshavn America/Dawson America/Dawson_Creek America/Denver America/Detroit America/Dominica America/Edmonton America/Eirunepe
  America/El_Salvador America/Ensenada America/Fort_Nelson America/Fort_Wayne America/Fortaleza America/Glace_Bay America/Godthab America/Goose_Bay
  America/Grand_Turk America/Grenada America/Guadeloupe America/Guatemala America/Guayaquil America/Guyana America/Halifax America/Havana
  America/Hermosillo America/Indiana/Indianapolis America/Indiana/Knox America/Indiana/Marengo America/Indiana/Petersburg America/Indiana/Tell_City
  America/Indiana/Vevay America/Indiana/Vincennes America/Indiana/Winamac America/Indianapolis America/Inuvik America/Iqaluit America/Jamaica
  America/Jujuy America/Juneau America/Kentucky/Louisville America/Kentucky/Monticello America/Knox_IN America/Kralendijk America/La_Paz America/Lima
  America/Los_Angeles America/Louisville America/Lower_Princes America/Maceio America/Managua America/Manaus America/Marigot America/Martinique
  America/Matamoros America/Mazatlan America/Mendoza America/Menominee America/Merida America/Metlakatla America/Mexico_City America/Miquelon
  America/Moncton America/Monterrey America/Montevideo America/Montreal America/Montserrat America/Nassau America/New_York America/Nipigon
  America/Nome America/Noronha America/North_Dakota/Beulah America/North_Dakota/Center America/North_Dakota/New_Salem America/Nuuk America/Ojinaga
  America/Panama America/Pangnirtung America/Paramaribo America/Phoenix America/Port-au-Prince America/Port_of_Spain America/Porto_Acre
  America/Porto_Velho America/Puerto_Rico America/Punta_Arenas America/Rainy_River America/Rankin_Inlet America/Recife America/Regina America/Resolute
  America/Rio_Branco America/Rosario America/Santa_Isabel America/Santarem America/Santiago America/Santo_Domingo America/Sao_Paulo
  America/Scoresbysund America/Shiprock America/Sitka America/St_Barthelemy America/St_Johns America/St_Kitts America/St_Lucia America/St_Thomas
  America/St_Vincent America/Swift_Current America/Tegucigalpa America/Thule America/Thunder_Bay America/Tijuana America/Toronto America/Tortola
  America/Vancouver America/Virgin America/Whitehorse America/Winnipeg America/Yakutat America/Yellowknife
  Antarctica/Casey Antarctica/Davis Antarctica/DumontDUrville Antarctica/Macquarie Antarctica/Mawson Antarctica/McMurdo Antarctica/Palmer
  Antarctica/Rothera Antarctica/South_Pole Antarctica/Syowa Antarctica/Troll Antarctica/Vostok
  Arctic/Longyearbyen
  Asia/Aden Asia/Almaty Asia/Amman Asia/Anadyr Asia/Aqtau Asia/Aqtobe Asia/Ashgabat Asia/Ashkhabad Asia/Atyrau Asia/Baghdad Asia/Bahrain Asia/Baku
  Asia/Bangkok Asia/Barnaul Asia/Beirut Asia/Bishkek Asia/Brunei Asia/Calcutta Asia/Chita Asia/Choibalsan Asia/Chongqing Asia/Chungking Asia/Colombo
  Asia/Dacca Asia/Damascus Asia/Dhaka Asia/Dili Asia/Dubai Asia/Dushanbe Asia/Famagusta Asia/Gaza Asia/Harbin Asia/Hebron Asia/Ho_Chi_Minh
  Asia/Hong_Kong Asia/Hovd Asia/Irkutsk Asia/Istanbul Asia/Jakarta Asia/Jayapura Asia/Jerusalem Asia/Kabul Asia/Kamchatka Asia/Karachi Asia/Kashgar
  Asia/Kathmandu Asia/Katmandu Asia/Khandyga Asia/Kolkata Asia/Krasnoyarsk Asia/Kuala_Lumpur Asia/Kuching Asia/Kuwait Asia/Macao Asia/Macau
  Asia/Magadan Asia/Makassar Asia/Manila Asia/Muscat Asia/Nicosia Asia/Novokuznetsk Asia/Novosibirsk Asia/Omsk Asia/Oral Asia/Phnom_Penh
  Asia/Pontianak Asia/Pyongyang Asia/Qatar Asia/Qostanay Asia/Qyzylorda Asia/Rangoon Asia/Riyadh Asia/Saigon Asia/Sakhalin Asia/Samarkand Asia/Seoul
  Asia/Shanghai Asia/Singapore Asia/Srednekolymsk Asia/Taipei Asia/Tashkent Asia/Tbilisi Asia/Tehran Asia/Tel_Aviv Asia/Thimbu Asia/Thimphu Asia/Tokyo
  Asia/Tomsk Asia/Ujung_Pandang Asia/Ulaanbaatar Asia/Ulan_Bator Asia/Urumqi Asia/Ust-Nera Asia/Vientiane Asia/Vladivostok Asia/Yakutsk Asia/Yangon
  Asia/Yekaterinburg Asia/Yerevan
  Atlantic/Azores Atlantic/Bermuda Atlantic/Canary Atlantic/Cape_Verde Atlantic/Faeroe Atlantic/Faroe Atlantic/Jan_Mayen Atlantic/Madeira
  Atlantic/Reykjavik Atlantic/South_Georgia Atlantic/St_Helena Atlantic/Stanley
  Australia/ACT Australia/Adelaide Australia/Brisbane Australia/Broken_Hill Australia/Canberra Australia/Currie Australia/Darwin Australia/Eucla
  Australia/Hobart Australia/LHI Australia/Lindeman Australia/Lord_Howe Australia/Melbourne Australia/NSW Australia/North Australia/Perth
  Australia/Queensland Australia/South Australia/Sydney Australia/Tasmania Australia/Victoria Australia/West Australia/Yancowinna
  Europe/Amsterdam Europe/Andorra Europe/Astrakhan Europe/Athens Europe/Belfast Europe/Belgrade Europe/Berlin Europe/Bratislava Europe/Brussels
  Europe/Bucharest Europe/Budapest Europe/Busingen Europe/Chisinau Europe/Copenhagen Europe/Dublin Europe/Gibraltar Europe/Guernsey Europe/Helsinki
  Europe/Isle_of_Man Europe/Istanbul Europe/Jersey Europe/Kaliningrad Europe/Kiev Europe/Kirov Europe/Kyiv Europe/Lisbon Europe/Ljubljana
  Europe/London Europe/Luxembourg Europe/Madrid Europe/Malta Europe/Mariehamn Europe/Minsk Europe/Monaco Europe/Moscow Europe/Nicosia Europe/Oslo
  Europe/Paris Europe/Podgorica Europe/Prague Europe/Riga Europe/Rome Europe/Samara Europe/San_Marino Europe/Sarajevo Europe/Saratov Europe/Simferopol
  Europe/Skopje Europe/Sofia Europe/Stockholm Europe/Tallinn Europe/Tirane Europe/Tiraspol Europe/Ulyanovsk Europe/Uzhgorod Europe/Vaduz
  Europe/Vatican Europe/Vienna Europe/Vilnius Europe/Volgograd Europe/Warsaw Europe/Zagreb Europe/Zaporozhye Europe/Zurich
  Indian/Antananarivo Indian/Chagos Indian/Christmas Indian/Cocos Indian/Comoro Indian/Kerguelen Indian/Mahe Indian/Maldives Indian/Mauritius
  Indian/Mayotte Indian/Reunion
  Pacific/Apia Pacific/Auckland Pacific/Bougainville Pacific/Chatham Pacific/Chuuk Pacific/Easter Pacific/Efate Pacific/Enderbury Pacific/Fakaofo
  Pacific/Fiji Pacific/Funafuti Pacific/Galapagos Pacific/Gambier Pacific/Guadalcanal Pacific/Guam Pacific/Honolulu Pacific/Johnston Pacific/Kanton
  Pacific/Kiritimati Pacific/Kosrae Pacific/Kwajalein Pacific/Majuro Pacific/Marquesas Pacific/Midway Pacific/Nauru Pacific/Niue Pacific/Norfolk
  Pacific/Noumea Pacific/Pago_Pago Pacific/Palau Pacific/Pitcairn Pacific/Pohnpei Pacific/Ponape Pacific/Port_Moresby Pacific/Rarotonga Pacific/Saipan
  Pacific/Samoa Pacific/Tahiti Pacific/Tarawa Pacific/Tongatapu Pacific/Truk Pacific/Wake Pacific/Wallis Pacific/Yap
  Brazil/Acre Brazil/DeNoronha Brazil/East Brazil/West CET CST6CDT Canada/Atlantic Canada/Central Canada/Eastern Canada/Mountain Canada/Newfoundland
  Canada/Pacific Canada/Saskatchewan Canada/Yukon Chile/Continental Chile/EasterIsland Cuba EET EST EST5EDT Egypt Eire Etc/GMT Etc/GMT+0 Etc/GMT+1
  Etc/GMT+10 Etc/GMT+11 Etc/GMT+12 Etc/GMT+2 Etc/GMT+3 Etc/GMT+4 Etc/GMT+5 Etc/GMT+6 Etc/GMT+7 Etc/GMT+8 Etc/GMT+9 Etc/GMT-0 Etc/GMT-1 Etc/GMT-10
  Etc/GMT-11 Etc/GMT-12 Etc/GMT-13 Etc/GMT-14 Etc/GMT-2 Etc/GMT-3 Etc/GMT-4 Etc/GMT-5 Etc/GMT-6 Etc/GMT-7 Etc/GMT-8 Etc/GMT-9 Etc/GMT0 Etc/Greenwich
  Etc/UCT Etc/UTC Etc/Universal Etc/Zulu GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya MET
  MST MST7MDT Mexico/BajaNorte Mexico/BajaSur Mexico/General NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT US/Alaska
  US/Aleutian US/Arizona US/Central US/East-Indiana US/Eastern US/Hawaii US/Indiana-Starke US/Michigan US/Mountain US/Pacific US/Samoa UTC Universal
  W-SU WET Zulu
', '\S+', 'g'))[1];

insert into app_hidden.time_zones (name)
select distinct replace(regexp_replace(name, '^.*/', ''), '_', ' ')
from app_hidden.time_zones
where name ~ '^(Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)/'
on conflict on constraint time_zones_pkey do nothing;

insert into app_hidden.time_zones (name)
-- The cities that CLDR has beside those of IANA, in its names for English and for the zones of Windows.
select unnest(array[
  'Abu Dhabi', 'Astana', 'Bahía de Banderas', 'Beijing', 'Bern', 'Brasília', 'Chennai', 'Chokurdakh', 'Dumont d’Urville', 'Edinburgh',
  'Ekaterinburg', 'Georgetown', 'Gorno-Altaysk', 'Guadalajara', 'Hanoi', 'Ho Chi Minh City', 'Islamabad', 'Ittoqqortoormiit', 'Izhevsk',
  'Mumbai', 'New Delhi', 'Nukuʻalofa', 'Osaka', 'Petropavlovsk-Kamchatsky', 'Port Louis', 'Pretoria', 'Quito', 'Salvador', 'Sapporo',
  'Sri Jayawardenepura', 'St. Petersburg', 'Wellington'])
union
select regexp_replace(name, '^St ', 'Saint ') from app_hidden.time_zones where name ~ '^St '
on conflict on constraint time_zones_pkey do nothing;

create function app_hidden.is_time_zone(name text) returns boolean
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$
  begin
    return char_length(is_time_zone.name) <= 100
      and exists (select from app_hidden.time_zones z where z.key = app_hidden.time_zone_key(is_time_zone.name));
  end
  $$;
comment on function app_hidden.is_time_zone(text) is 'Whether a time zone is known, in any spelling of at most 100 characters.';

create function app_hidden.nearest_time_zones(names text[]) returns table (name text, nearest text)
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$
    -- Sørensen's and Dice's coefficient: the part of the pairs of neighbouring letters that two spellings have in common. It takes 3 ms a name.
    with given as (
      select g.name, array(select distinct substr(g.padded, n, 2) from generate_series(1, length(g.padded) - 1) as n) as pairs
      from (
        select distinct name, '^' || left(app_hidden.time_zone_key(name), 50) || '$' as padded from unnest(names[1:10]) as name
      ) as g
    )
    select given.name, nearest.name
    from given
    cross join lateral (
      select z.name, (
          select count(*) from unnest(given.pairs) as pair where strpos('^' || z.key || '$', pair) > 0
        )::float8 / (length(z.key) + 1 + cardinality(given.pairs)) as likeness
      from app_hidden.time_zones z
      order by likeness desc, z.name
      limit 1
    ) as nearest
    where nearest.likeness > 0
  $$;
comment on function app_hidden.nearest_time_zones(text[]) is
  'For each of the first ten the time zone whose spelling is nearest; none for one that has nothing in common with any.';

create function app_hidden.time_zone_problems(names text[]) returns table (name text, problem text)
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$
  declare
    unknown text[] = array(
      select given from unnest(names) as given
      where not exists (select from app_hidden.time_zones z where z.name = given) and not app_hidden.is_time_zone(given));
  begin
    if unknown = '{}' then
      return;
    end if;
    return query
      select
        given, 'A time zone is an IANA name, such as "Europe/Berlin", or the city alone, such as "Berlin"'
          || coalesce('; did you mean "' || n.nearest || '"?', '.')
      from unnest(unknown) as given
      left join app_hidden.nearest_time_zones(unknown) as n on n.name = given;
  end
  $$;
comment on function app_hidden.time_zone_problems(text[]) is 'Those of some time zones that are unknown in any spelling: why they are refused, with the nearest that is known to the first ten.';

grant execute on function app_hidden.time_zone_key(text), app_hidden.is_time_zone(text), app_hidden.nearest_time_zones(text[]),
  app_hidden.time_zone_problems(text[])
  to graph_app, graph_admin;

create function app_hidden.users_check_time_zone() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
  declare
    problem text;
  begin
    -- Mostly it is spelled as in the list, which is found out in a third of the time.
    if tg_op = 'UPDATE' and new.time_zone = old.time_zone or exists (select from app_hidden.time_zones z where z.name = new.time_zone) then
      return new;
    end if;
    problem = (select z.problem from app_hidden.time_zone_problems(array[new.time_zone]) as z);
    if problem is not null then
      raise check_violation using message = problem, schema = tg_table_schema, table = tg_table_name, column = 'time_zone';
    end if;
    return new;
  end
  $$;
comment on function app_hidden.users_check_time_zone() is 'Refuses a time zone that is unknown, and names the nearest.';
create trigger users_time_zone before insert or update of time_zone on app_public.users
  for each row execute function app_hidden.users_check_time_zone();
