import { createTenant, type OwnGraphTest, read, startGraphTest, type Tenant } from '../graphql/support.ts';
import { tableSql } from './tables.ts';
import { walk } from './walk.ts';

// Columns of a team's own collation. If it is not deterministic, texts of different characters are equal.

const collations = {
  ignore_case: "(provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
  ignore_accents: "(provider = icu, locale = 'und-u-ks-level1-kc-true', deterministic = false)",
  german_phonebook: "(provider = icu, locale = 'de-u-co-phonebk')",
};

const names = ['Ada', 'ADA', 'ada', 'Ädä', 'Adam', 'Zoe', 'zoë', 'İ', 'i'];

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    tenant = await createTenant({ database });
    const { owner } = database;
    for (const [collation, options] of Object.entries(collations)) {
      const text = `text collate app_public.${collation}`;
      await owner.query(`
      create collation app_public.${collation} ${options};
      ${tableSql({
        name: collation,
        columns: `id int not null, name ${text} not null constraint ${collation}_name_text check (app_hidden.is_text(name)), note ${text}, external_identifier ${text}, lower ${text} generated always as (app_hidden.lowercase(name)) stored`,
        key: ['id'],
        indexes: ['name, id', '(note is not null), note, id', 'lower'],
      })}
      create unique index ${collation}_external_identifier_key on app_public.${collation} (organization_id, external_identifier);
      comment on column app_public.${collation}.name is E'@filter names\\n@filter namePrefix prefix\\n@filter nameFrom from\\n@filter nameIs is\\nName.';
      comment on column app_public.${collation}.lower is E'@filter anyNames anyCase\\nName in lower case.'`);
      await owner.query(
        `insert into app_public.${collation} (organization_id, id, name, note, external_identifier)
       select $1, n, name, nullif(name, 'İ'), 'x' || n from unnest($2::text[]) with ordinality as u (name, n)`,
        [tenant.organizationId, names],
      );
    }
    for (const collation of keyed) await owner.query(keyedSql(collation, tenant.organizationId));
  });
});
afterAll(() => graph.stop());

const fieldOf = (collation: string) => collation.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const found = async (collation: string, filter: string) => {
  const { app } = await read<{ app: { page: { totalCount: number; nodes: { name: string }[] } } }>(
    graph,
    tenant.app,
    `{ app { page: ${fieldOf(collation)}(${filter}) { totalCount nodes { name } } } }`,
  );
  expect(app.page.totalCount).toBe(app.page.nodes.length);
  return app.page.nodes.map(({ name }) => name);
};

describe.each(Object.keys(collations))('a column of the collation %s', (collation) => {
  const asOwner = async (condition: string) =>
    (
      await tenant.owner.query<{ name: string }>(
        `select name from app_public.${collation} where ${condition} order by id`,
      )
    ).rows.map(({ name }) => name);

  test.each([
    ['namePrefix: "Ad"', `left(name, 2) collate "C" = 'Ad'`],
    ['namePrefix: "ad"', `left(name, 2) collate "C" = 'ad'`],
    ['namePrefix: "Ä"', `left(name, 1) collate "C" = 'Ä'`],
    ['namePrefix: ""', 'true'],
    ['names: ["ada", "zoe"]', `name in ('ada', 'zoe')`],
    ['nameIs: "ADA"', `name = 'ADA'`],
    ['nameFrom: "zoe"', `name >= 'zoe'`],
    ['anyNames: ["ZOË", "ADA"]', `lower in ('zoë', 'ada')`],
    ['externalIdentifiers: ["X2", "x3"]', `external_identifier in ('X2', 'x3')`],
  ])('is filtered by %s', async (filter, condition) => {
    const expected = await asOwner(condition);

    expect(expected.length).toBeGreaterThan(0);
    expect(await found(collation, filter)).toEqual(expected);
  });

  const columns = ['NAME', 'NOTE', 'LOWER', 'EXTERNAL_IDENTIFIER'];
  test.each([
    ['NAME', 'name'],
    ['NOTE', '(note is not null), note'],
    ['LOWER', 'lower'],
    ['EXTERNAL_IDENTIFIER', '(external_identifier is not null), external_identifier'],
  ])('is sorted by %s, and each row comes once on pages of any size', async (column, expressions) => {
    // Each direction and way has another size, and each size comes with all of them among the columns.
    let sizes = columns.indexOf(column);
    for (const direction of ['asc', 'desc']) {
      const { rows } = await tenant.owner.query<{ name: string }>(
        `select name from app_public.${collation} order by ${`${expressions}, id`.replaceAll(',', ` ${direction},`)} ${direction}`,
      );
      const order = `${column}_${direction.toUpperCase()}`;
      for (const isBackwards of [false, true]) {
        const page = { field: fieldOf(collation), order, isBackwards, rows: [1, 2, 4][sizes++ % 3] ?? 1 };
        expect({ ...page, found: await walk(graph, tenant.app, page, 'name') }).toEqual({ ...page, found: rows });
      }
    }
  });

  test('has the check of texts', async () => {
    const insert = (name: string) =>
      tenant.owner.query(`insert into app_public.${collation} (organization_id, id, name) values ($1, 100, $2)`, [
        tenant.organizationId,
        name,
      ]);

    for (const name of [' a', 'a\u0007', '', 'a'.repeat(201)])
      await expect(insert(name)).rejects.toMatchObject({ constraint: `${collation}_name_text` });
    await insert('a\u0301 b');
    await tenant.owner.query(`delete from app_public.${collation} where id = 100`);
  });
});

/** Of keys, and of what refers to them. */
const keyed = ['ignore_case', 'ignore_accents', 'C'];

const tablesOf = (collation: string) => ({
  parent: `lands_${collation.toLowerCase()}`,
  child: `towns_${collation.toLowerCase()}`,
});

const keyedSql = (collation: string, organizationId: string) => {
  const { parent, child } = tablesOf(collation);
  const code = `code text collate ${collation === 'C' ? '"C"' : `app_public.${collation}`} not null`;
  return `
    ${tableSql({ name: parent, columns: `${code}, name text not null`, key: ['code'] })}
    ${tableSql({ name: child, columns: `id int not null, ${code}`, key: ['id'], indexes: ['code, id'] })}
    alter table app_public.${child} add constraint ${child}_code_fkey foreign key (organization_id, code) references app_public.${parent};
    comment on constraint ${child}_code_fkey on app_public.${child} is E'@fieldName land\\n@foreignFieldName towns';
    insert into app_public.${parent} values ('${organizationId}', 'DE', 'Germany'), ('${organizationId}', 'AT', 'Austria');
    insert into app_public.${child} values ('${organizationId}', 1, 'DE'), ('${organizationId}', 2, 'DE'), ('${organizationId}', 3, 'AT');`;
};

test.each(keyed)('rows of a key of the collation %s are found by id, from a reference, and back', async (collation) => {
  const { parent, child } = tablesOf(collation);
  type Land = { id: string; name: string; towns: { totalCount: number } };
  const { app } = await read<{ app: { lands: { nodes: Land[] }; towns: { nodes: { land: { name: string } }[] } } }>(
    graph,
    tenant.app,
    `{ app {
        lands: ${fieldOf(parent)} { nodes { id name towns { totalCount nodes { id } } } }
        towns: ${fieldOf(child)} { nodes { land { name } } } } }`,
  );
  expect(app.lands.nodes.map(({ name, towns }) => [name, towns.totalCount])).toEqual([
    ['Austria', 1],
    ['Germany', 2],
  ]);
  expect(app.towns.nodes.map(({ land }) => land.name)).toEqual(['Germany', 'Germany', 'Austria']);
  for (const { id, name } of app.lands.nodes) {
    const query = `{ node(id: "${id}") { id } app { lands: ${fieldOf(parent)}(ids: ["${id}"]) { nodes { name } } } }`;
    expect(await read(graph, tenant.app, query)).toEqual({ node: { id }, app: { lands: { nodes: [{ name }] } } });
  }
});
