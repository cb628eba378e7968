import { Pool } from 'pg';
import { makeSchema } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafast } from 'postgraphile/grafast';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import type { TestDatabase } from '../support/database.ts';

/** People, cards of two types and who has which: one card that is a phone. */
export const upstreamTables = `
  create schema upstream;
  create table upstream.people (id int primary key, name text not null);
  create table upstream.cards (id int primary key, type text not null, span int4range not null);
  comment on table upstream.cards is E'@interface mode:single type:type\\n@type Badge name:Badge\\n@type Phone name:Phone';
  create table upstream.assignments (
    id int primary key,
    card_id int not null references upstream.cards,
    person_id int not null references upstream.people
  );
  create index on upstream.assignments (card_id);
  create index on upstream.assignments (person_id);
  insert into upstream.people values (1, 'Ada');
  insert into upstream.cards values (1, 'Phone', '[1,5)');
  insert into upstream.assignments values (1, 1, 1);`;

/**
 * Asks stock PostGraphile over these tables, with some of our plugins.
 * For faults that are upstream's: the test that expects one fails when a release mends it.
 */
export async function askStock(
  { ownerUrl }: Pick<TestDatabase, 'ownerUrl'>,
  source: string,
  plugins: GraphileConfig.Plugin[],
): Promise<{ data?: unknown; errors?: readonly { message: string }[] }> {
  const pool = new Pool({ connectionString: ownerUrl });
  const pgService = makePgService({ pool, schemas: ['upstream'] });
  const { schema, resolvedPreset } = await makeSchema({
    extends: [PostGraphileAmberPreset],
    plugins,
    pgServices: [pgService],
    schema: { defaultBehavior: 'list connection' },
  });
  const { data, errors } = (await grafast({ schema, source, resolvedPreset, requestContext: {} })) as Awaited<
    ReturnType<typeof askStock>
  >;
  await pgService.release?.();
  await pool.end();
  return { ...(data !== undefined && { data }), ...(errors && { errors }) };
}
