import type { Pool } from 'pg';

export type History = {
  /** Adds changes up to this number, spread over the last 395 days, and lets PostgreSQL know them. */
  fill(changes: number, report: (message: string) => void): Promise<void>;
  /** A month of so many changes that is older than audit.retention. */
  addExpiredMonth(changes: number): Promise<void>;
};

/**
 * An organization of 100,000 people and 1,110 units, and a history of ten organizations, this one among them. Ten of the people were
 * granted the same unit, and each of the others a unit below other roots. Rows that the statements of the documents name are called as in
 * the demo.
 */
export async function buildHistory(owner: Pool): Promise<History> {
  await owner.query(organization);
  await owner.query(`
    do $$
    begin
      for month in 1 .. 14 loop
        perform audit.create_partition((date_trunc('month', now() at time zone 'UTC') - make_interval(months => month)) at time zone 'UTC');
      end loop;
    end
    $$`);
  // Building it was recorded, too.
  await owner.query('truncate audit.changes');
  while ((await owner.query('select from oauth.purge_changes(1000) where months + new_months > 0')).rowCount);
  let filled = 0;
  return {
    async fill(changes, report) {
      const [first, count] = [filled, changes - filled];
      const insert = inserted(`now() - interval '395 days' * (1 - (n - ${first}) / ${count}::float8)`);
      while (filled < changes) {
        const upTo = Math.min(filled + step, changes);
        await owner.query(insert, [filled, upTo]);
        report(`${upTo} of ${changes} changes`);
        filled = upTo;
      }
      await owner.query('analyze');
      await owner.query('checkpoint');
    },
    async addExpiredMonth(changes) {
      await owner.query(`select audit.create_partition('2020-01-01T00:00Z')`);
      const insert = inserted(`'2020-01-01T00:00Z'::timestamptz + interval '31 days' * random()`);
      await owner.query(insert, [0, Math.floor(changes)]);
      // It was written long ago.
      await owner.query('checkpoint');
    },
  };
}

const step = 500_000;

const id = (kind: string, number: string) => `md5('${kind} ' || ${number})::uuid`;

const organization = `
  insert into app_hidden.organizations (id, name) values (${id('organization', '0')}, 'Demo'), (${id('organization', '10')}, 'Grown');
  insert into oauth.applications (organization_id, id, name, client_id, scopes)
  select ${id('organization', '0')}, ${id('application', 'n')}, 'Application ' || n,
    case n when 3 then 'demo-backend' else 'application-' || n end, '{app,basic}'
  from generate_series(0, 9) as n;
  insert into app_public.users (organization_id, id, full_name, email)
  select ${id('organization', '0')}, ${id('person', 'n')}, 'Person ' || n,
    case n when 5 then 'grace@demo.test' else n || '@demo.test' end
  from generate_series(0, 99999) as n;
  insert into app_public.units (organization_id, id, external_identifier, name)
  select ${id('organization', '0')}, ${id('unit', 'n')}, case n when 0 then 'north' end, 'Unit ' || n from generate_series(0, 9) as n;
  insert into app_public.units (organization_id, id, external_identifier, name, parent_id)
  select ${id('organization', '0')}, ${id('unit', 'n')}, case n when 10 then 'north-lab' when 11 then 'south-1' end, 'Unit ' || n, ${id('unit', 'n % 10')}
  from generate_series(10, 109) as n;
  insert into app_public.units (organization_id, id, name, parent_id)
  select ${id('organization', '0')}, ${id('unit', 'n')}, 'Unit ' || n, ${id('unit', '10 + n % 100')} from generate_series(110, 1109) as n;
  insert into app_hidden.unit_access (organization_id, user_id, unit_id)
  select ${id('organization', '0')}, ${id('person', 'n')}, ${id('unit', 'case when n < 10 then 0 else 1 + n % 9 end')}
  from generate_series(0, 99999) as n`;

/** From $1 up to below $2: of ten organizations in turn, by a thousand people and ten applications. */
const inserted = (occurredAt: string) => `
  insert into audit.changes (
    occurred_at, organization_id, subject_id, relation, row_id, command, columns, before, after, role, login,
    application_id, user_id, grant_id, request_id)
  select
    ${occurredAt}, ${id('organization', 'n % 10')}, ${id('person', 'n / 10 % 100000')}, 'app_public.users', ${id('person', 'n / 10 % 100000')},
    'update', '{full_name}', jsonb_build_object('full_name', 'Person ' || n), jsonb_build_object('full_name', 'Renamed ' || n), 'graph_app', 'graph_authenticator',
    ${id('application', 'n % 10')}, case when n % 3 = 0 then ${id('person', 'n % 1000')} end, ${id('grant', 'n % 5000')}, md5('request ' || n)
  from generate_series($1::bigint, $2::bigint - 1) as n`;
