import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seed, sizeOf } from '../support/search.ts';
import { openAttempts } from './attempts.ts';
import { label } from './commands.ts';
import { compare } from './compare.ts';
import { functions, helpers } from './functions.ts';
import { roles, settingsOf } from './principals.ts';
import { tables } from './tables.ts';

describe(`the database and sets that are computed without it (SEED=${seed})`, () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(async () => {
    await database.drop();
  });

  it('know the same tables, views and functions that a request reaches', async () => {
    const relations = await database.owner.query<{ name: string }>(
      `select c.oid::regclass::text as name
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and n.nspname !~ '^(pg_|information_schema|graphile_)'
         and exists (
           select from unnest($1::text[]) as role
           where has_table_privilege(role, c.oid, 'select, insert, update, delete, truncate, references, trigger')
             or has_any_column_privilege(role, c.oid, 'select, insert, update, references'))
       order by 1`,
      [everybody],
    );
    const readable = Object.entries(tables).filter(([, { sees }]) => Object.keys(sees).length > 0);
    expect(relations.rows.map(({ name }) => name)).toEqual(readable.map(([name]) => name).sort());

    const reachable = await database.owner.query<{ name: string }>(
      `select p.oid::regprocedure::text as name
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace
       where n.nspname !~ '^(pg_|information_schema)'
         and exists (select from unnest($1::text[]) as role where has_function_privilege(role, p.oid, 'execute'))
       order by 1`,
      [everybody],
    );
    const described = [...Object.keys(functions), ...helpers].sort();
    expect(reachable.rows.map(({ name }) => name)).toEqual(described);
  });

  it('agree on every command by everybody', async () => {
    expect(await compare(database, sizeOf({ small: 1, whole: 5 }), { shrinks: true })).toBeNull();
  });

  it('take a claim that is no key for nobody', async () => {
    const { attempt, close } = await openAttempts(database.authUrl);
    try {
      const claims = { organization: 'everything', application: 'everything', user: 'everything' };
      for (const [name, table] of Object.entries(tables)) {
        for (const role of roles.filter((role) => table.sees[role] && name !== 'oauth.throttles')) {
          const outcome = await attempt(settingsOf({ role, claims }), {
            text: `select ${label(table)} from ${name}`,
            values: [],
          });
          // Which of them depends on whether there is a row to compare with.
          expect([[], { refused: '22P02' }]).toContainEqual(outcome);
        }
      }
    } finally {
      await close();
    }
  });
});

const everybody = ['graph_authenticator', ...roles.filter((role) => role !== 'none')];
