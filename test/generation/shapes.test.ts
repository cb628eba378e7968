import {
  ask,
  createTenant,
  expectRefused,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
} from '../graphql/support.ts';
import { tableSql } from './tables.ts';
import { walk } from './walk.ts';

/** The comment by which rows of a view, which has no foreign keys, are a connection of `app`. */
const ofApp = (field: string, more = '') =>
  `E'${more}@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName ${field}|@forwardBehavior -*|@backwardBehavior -list +connection\\nRows of ${field}.'`;

const sql = `
  ${tableSql({ name: 'categories', columns: 'id int, parent_id int, name text not null', key: ['id'], indexes: ['parent_id, id', 'name, id'] })}
  alter table app_public.categories add constraint categories_parent_id_fkey foreign key (organization_id, parent_id) references app_public.categories;
  comment on constraint categories_parent_id_fkey on app_public.categories is E'@foreignFieldName children';
  ${tableSql({ name: 'labels', columns: 'id int, text text not null', key: ['id'], indexes: ['text, id'] })}
  ${tableSql({ name: 'category_labels', columns: 'category_id int, label_id int, weight int', key: ['category_id', 'label_id'], indexes: ['label_id, category_id', 'weight'] })}
  alter table app_public.category_labels
    add constraint category_labels_category_id_fkey foreign key (organization_id, category_id) references app_public.categories,
    add constraint category_labels_label_id_fkey foreign key (organization_id, label_id) references app_public.labels;
  create function app_public.categories_labels(category app_public.categories) returns setof app_public.labels language sql stable
    as $$ select l.* from app_public.labels l join app_public.category_labels c on c.organization_id = l.organization_id and c.label_id = l.id
          where c.organization_id = category.organization_id and c.category_id = category.id $$;
  grant execute on function app_public.categories_labels to graph_app;

  create table app_public.readings (
    organization_id uuid not null, at date not null, id int not null, value numeric, unsorted int,
    primary key (organization_id, at, id)) partition by range (at);
  create table app_public.readings_2024 partition of app_public.readings for values from ('2024-01-01') to ('2025-01-01');
  create table app_public.readings_2025 partition of app_public.readings for values from ('2025-01-01') to ('2026-01-01');
  create index readings_value_idx on app_public.readings (organization_id, value);
  comment on table app_public.readings is ${ofApp('readings')};
  alter table app_public.readings enable row level security;
  create policy select_graph_app on app_public.readings for select to graph_app
    using (organization_id = (select app_hidden.current_organization_id()));
  grant select on app_public.readings to graph_app;

  create view app_public.root_categories with (security_invoker) as
    select organization_id, id, name, length(name) as length from app_public.categories where parent_id is null;
  comment on view app_public.root_categories is ${ofApp('rootCategories', '@primaryKey organization_id,id\\n')};
  grant select on app_public.root_categories to graph_app;

  create materialized view app_hidden.all_totals as select organization_id, count(*)::int as count from app_public.categories group by 1;
  create view app_public.totals as select organization_id, count from app_hidden.all_totals
    where organization_id = (select app_hidden.current_organization_id());
  comment on view app_public.totals is ${ofApp('totals')};
  grant select on app_public.totals to graph_app;
  create view app_public.names with (security_invoker) as select organization_id, name from app_public.categories;
  comment on view app_public.names is ${ofApp('names')};
  grant select on app_public.names to graph_app;`;

const odd = `
  ${tableSql({ name: 'locks', columns: 'serial text not null', key: [] })}
  alter table app_public.locks drop constraint locks_pkey, add constraint locks_serial_key unique (organization_id, serial);
  ${tableSql({ name: 'oddities', columns: 'id int, "2nd" int not null, until date not null, starts timestamptz', key: ['id'], indexes: ['"2nd"'] })}`;

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    const other = await createTenant({ database });
    tenant = await createTenant({ database });
    const { owner } = database;
    await owner.query(sql + odd);
    for (const { organizationId } of [tenant, other]) {
      const fill = (statement: string) => owner.query(statement, [organizationId]);
      await fill(
        `insert into app_public.categories select $1, n, nullif(n / 3, 0), 'Category ' || n % 4 from generate_series(1, 9) n`,
      );
      await fill(`insert into app_public.labels select $1, n, 'Label ' || n from generate_series(1, 5) n`);
      await fill(
        `insert into app_public.category_labels select $1, c, l, nullif(c, 2) from generate_series(1, 2) c, generate_series(c, 5) l`,
      );
      await fill(
        `insert into app_public.readings select $1, date '2024-12-28' + n, n, nullif(n % 3, 0) from generate_series(1, 7) n`,
      );
    }
    const values = [tenant.organizationId];
    await owner.query('insert into app_public.locks select $1, chr(96 + n) from generate_series(1, 5) n', values);
    const withoutEnd = `($1, 1, 2, 'infinity', '-infinity'), ($1, 2, 1, '2024-01-01', null)`;
    await owner.query(`insert into app_public.oddities values ${withoutEnd}`, values);
    await owner.query('refresh materialized view app_hidden.all_totals');
  });
});
afterAll(() => graph.stop());

test('a table that refers to itself', async () => {
  const { app } = await read<{ app: { categories: object } }>(
    graph,
    tenant.app,
    '{ app { categories(first: 3) { nodes { name parent { name } children(orderBy: NAME_DESC) { totalCount nodes { name } } } } } }',
  );
  const children = (...names: string[]) => ({ totalCount: names.length, nodes: names.map((name) => ({ name })) });
  expect(app.categories).toEqual({
    nodes: [
      { name: 'Category 1', parent: null, children: children('Category 3', 'Category 1', 'Category 0') },
      { name: 'Category 2', parent: null, children: children('Category 3', 'Category 2', 'Category 0') },
      { name: 'Category 3', parent: { name: 'Category 1' }, children: children('Category 1') },
    ],
  });
});

test('many-to-many: by the table between, with what it says, and by a function', async () => {
  const { app } = await read<{ app: { categories: { nodes: object[] } } }>(
    graph,
    tenant.app,
    `{ app { categories(first: 2) { nodes {
        categoryLabels(orderBy: WEIGHT_DESC, first: 2) { totalCount nodes { weight category { name } label { text } } }
        labels(orderBy: TEXT_DESC, last: 2) { totalCount nodes { text categoryLabels { totalCount } } } } } } }`,
  );
  const between = (weight: number | null, category: string, label: string) => ({
    weight,
    category: { name: category },
    label: { text: label },
  });
  expect(app.categories.nodes).toEqual([
    {
      categoryLabels: {
        totalCount: 5,
        nodes: [between(1, 'Category 1', 'Label 5'), between(1, 'Category 1', 'Label 4')],
      },
      labels: {
        totalCount: 5,
        nodes: [
          { text: 'Label 2', categoryLabels: { totalCount: 2 } },
          { text: 'Label 1', categoryLabels: { totalCount: 1 } },
        ],
      },
    },
    {
      categoryLabels: {
        totalCount: 4,
        nodes: [between(null, 'Category 2', 'Label 5'), between(null, 'Category 2', 'Label 4')],
      },
      labels: {
        totalCount: 4,
        nodes: [
          { text: 'Label 3', categoryLabels: { totalCount: 2 } },
          { text: 'Label 2', categoryLabels: { totalCount: 2 } },
        ],
      },
    },
  ]);
});

test('a partitioned table is one table, with the orders of its indexes', async () => {
  const { __schema } = await read<{ __schema: { types: { name: string; enumValues: { name: string }[] | null }[] } }>(
    graph,
    tenant.app,
    '{ __schema { types { name enumValues { name } } } }',
  );
  const types = __schema.types.filter(({ name }) => name.startsWith('Reading'));
  expect(types.map(({ name }) => name).sort()).toEqual([
    'Reading',
    'ReadingConnection',
    'ReadingEdge',
    'ReadingOrderBy',
  ]);
  const orders = types.flatMap(({ enumValues }) => enumValues ?? []).map(({ name }) => name);
  expect(orders.filter((name) => name.endsWith('_ASC')).sort()).toEqual(['AT_ASC', 'PRIMARY_KEY_ASC', 'VALUE_ASC']);
});

test.each([
  ['categories', 'NAME_ASC', 9],
  ['readings', 'PRIMARY_KEY_DESC', 7],
  ['readings', 'VALUE_ASC', 7],
  ['readings', 'VALUE_DESC', 7],
  ['rootCategories', 'NAME_DESC', 2],
  ['rootCategories', 'LENGTH_ASC', 2],
])('%s in the order %s: every row once, both ways, and each found by its id', async (field, order, count) => {
  const nodes = await walk(graph, tenant.app, { field, order }, '__typename id');

  expect(new Set(nodes.map(({ id }) => id)).size).toBe(count);
  expect(await walk(graph, tenant.app, { field, order, isBackwards: true }, '__typename id')).toEqual(nodes);
  for (const { id, __typename } of nodes) {
    const query = 'query ($id: ID!) { node(id: $id) { __typename id } }';
    expect(await read(graph, tenant.app, query, { id })).toEqual({ node: { __typename, id } });
  }
});

test('a view without a key has no ids, and its pages go on', async () => {
  expect(await read(graph, tenant.app, '{ app { totals { totalCount nodes { count } } } }')).toEqual({
    app: { totals: { totalCount: 1, nodes: [{ count: 9 }] } },
  });
  const { rows } = await graph.database.owner.query('select from app_hidden.all_totals');
  expect(rows).toHaveLength(2);
  expect(await walk(graph, tenant.app, { field: 'totals' }, 'count')).toEqual([{ count: 9 }]);
  expect(await walk(graph, tenant.app, { field: 'names' }, 'name')).toHaveLength(9);
});

test('a view without a key is read forwards only', async () => {
  const { __type } = await read<{ __type: { fields: { name: string; args: { name: string }[] }[] } }>(
    graph,
    tenant.app,
    '{ __type(name: "App") { fields { name args { name } } } }',
  );
  const argumentsOf = (field: string) => __type.fields.find(({ name }) => name === field)?.args.map(({ name }) => name);
  expect(argumentsOf('names')).toEqual(['first', 'after', 'orderBy']);
  expect(argumentsOf('categories')).toEqual(expect.arrayContaining(['last', 'before']));

  const query = 'query ($at: Cursor) { app { names(after: $at) { nodes { name } } } }';
  const cursorOf = (row: number) => Buffer.from(JSON.stringify(['natural', row])).toString('base64');
  expect(await read(graph, tenant.app, query, { at: cursorOf(9) })).toEqual({ app: { names: { nodes: [] } } });
  for (const row of [0, -1, 1.5, 2 ** 53]) {
    const refused = await ask(graph, tenant.app, query, { at: cursorOf(row) });
    expectRefused(refused, 400, { code: 'BAD_USER_INPUT', argument: 'after' });
  }
});

test('a unique key serves cursors where there is no primary one', async () => {
  const nodes = await walk(graph, tenant.app, { field: 'locks' }, 'serial');
  expect(nodes).toEqual(['a', 'b', 'c', 'd', 'e'].map((serial) => ({ serial })));
  expect(await walk(graph, tenant.app, { field: 'locks', isBackwards: true }, 'serial')).toEqual(nodes);
});

test('a column may begin with a digit, and hold what is without end', async () => {
  const query = '{ app { oddities(orderBy: _2ND_DESC) { nodes { until starts } } } }';
  expect(await read(graph, tenant.app, query)).toEqual({
    app: {
      oddities: {
        nodes: [
          { until: 'infinity', starts: '-infinity' },
          { until: '2024-01-01', starts: null },
        ],
      },
    },
  });
});
