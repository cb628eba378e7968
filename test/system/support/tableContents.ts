import { query } from './query.ts';

/** How many rows each table has, and a hash of all that they say; of every schema but PostgreSQL's own. */
export async function tableContents(url: string): Promise<Record<string, string>> {
  const tables = await query<{ name: string }>(
    url,
    `select format('%I.%I', n.nspname, c.relname) as name
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname !~ '^(pg_|information_schema$)'`,
  );
  const contents = tables.map(async ({ name }) => {
    const [row] = await query<{ content: string }>(
      url,
      `select format('%s rows, %s', count(*), md5(string_agg(t::text, ' ' order by t::text collate "C"))) as content from ${name} t`,
    );
    return [name, row?.content ?? ''];
  });
  return Object.fromEntries(await Promise.all(contents));
}
