import { readFile, writeFile } from 'node:fs/promises';
import { isWhole } from '../../../../test/support/search.ts';
import { foreign, openForeign } from './openForeign.ts';

// Judgements of schemas that are built as public projects build theirs. Golden files were checked by hand against the comments of the schemas.

const names = Object.keys(foreign) as (keyof typeof foreign)[];

describe.each(isWhole ? names : names.slice(0, 1))('the schema of a %s', (name) => {
  let database: Awaited<ReturnType<typeof openForeign>>;
  let printed: string;
  beforeAll(async () => {
    database = await openForeign(name);
    const { code, out, error } = await database.run();
    expect({ code, error }).toEqual({ code: 1, error: '' });
    // Rows are inserted at the time of the run.
    printed = out.replaceAll(/'\d{4}-\d\d-\d\dT[\d:.+-]+'/g, "'2026-01-01T00:00:00+00:00'");
  });
  afterAll(() => database.stop());

  it('is judged as its golden file says', async () => {
    const golden = new URL(`${name}.txt`, import.meta.url);
    if (process.env.UPDATE_GOLDEN) await writeFile(golden, printed);

    expect(printed).toBe(await readFile(golden, 'utf8'));
  });

  it('has a counterexample for each judgement that is refuted, which reads or changes a row when it is pasted', async () => {
    const scripts = [...printed.matchAll(/^begin;[\s\S]*?^rollback;$/gm)].map(([script]) => script);

    const counts: unknown[] = [];
    for (const script of scripts) {
      const client = await database.owner.connect();
      const results = [await client.query(script)].flat();
      counts.push(results.at(-2)?.rowCount);
      client.release();
    }

    expect(counts.filter((count) => Number(count) < 1)).toEqual([]);
    expect(scripts).toHaveLength((printed.match(/^\[\d+\]/gm) ?? []).length);
  });

  it('is as it was before', async () => {
    const { rows } = await database.owner.query(
      `select relname from pg_stat_user_tables where n_live_tup > 0 union all
       select 'a row' from pg_stat_user_tables t where (xpath('//c/text()', query_to_xml(format('select count(*) as c from %I.%I', t.schemaname, t.relname), true, true, '')))[1]::text <> '0'`,
    );

    expect(rows).toEqual([]);
  });
});
