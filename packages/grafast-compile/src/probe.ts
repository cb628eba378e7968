import type { PgResource, PgSelectSingleStep } from 'postgraphile/@dataplan/pg';
import * as dataplanPg from 'postgraphile/@dataplan/pg';
import type { OperationPlan } from 'postgraphile/grafast';
import * as grafast from 'postgraphile/grafast';
import { parse } from 'postgraphile/graphql';
import { sql } from 'postgraphile/pg-sql2';

/**
 * Plans a query over a table that does not exist, without a database.
 * Its plan has what most operations have: a page, a cursor, a joined row, rows within rows.
 */
export function planProbe(): OperationPlan {
  let planned: OperationPlan | null = null;
  const plugin: GraphileConfig.Plugin = {
    name: 'ProbePlugin',
    grafast: {
      middleware: {
        establishOperationPlan(next) {
          planned = next();
          // It is not executed.
          throw new Error('The probe is planned');
        },
      },
    },
  };
  // Its middleware is all that is read of a preset here.
  const resolvedPreset = { plugins: [plugin] } as unknown as GraphileConfig.ResolvedPreset;
  const result = grafast.execute({ schema: createSchema(), document, resolvedPreset, contextValue: {} });
  Promise.resolve(result).catch(() => undefined);
  if (!planned) throw new Error('The probe was not planned');
  return planned;
}

const document = parse(`{
  rows {
    nodes { id name parent { id } children { nodes { id } } }
    edges { cursor }
    pageInfo { hasNextPage endCursor }
  }
}`);

const typeDefs = `
  type Query { rows: Rows }
  type Rows { nodes: [Row!] edges: [Edge!] pageInfo: PageInfo! }
  type Row { id: Int! name: String parent: Row children: Rows }
  type Edge { cursor: String }
  type PageInfo { hasNextPage: Boolean! endCursor: String }`;

// A library that lacks a function is found when the probe is planned, and not when this module is imported.

function createSchema() {
  const { connection, constant, makeGrafastSchema } = grafast;
  const rows = createResource();
  return makeGrafastSchema({
    typeDefs,
    objects: {
      Query: {
        plans: {
          rows() {
            const $rows = connection(rows.find());
            $rows.setFirst(constant(2));
            return $rows;
          },
        },
      },
      Row: {
        plans: {
          parent: ($row: PgSelectSingleStep) => $row.singleRelation('parent'),
          children($row: PgSelectSingleStep) {
            const $children = connection($row.manyRelation('children'));
            $children.setFirst(constant(2));
            return $children;
          },
        },
      },
    },
  });
}

function createResource(): PgResource {
  const { context, object } = grafast;
  const { makeRegistryBuilder, PgExecutor, recordCodec, TYPES } = dataplanPg;
  const executor = new PgExecutor({
    name: 'probe',
    context: () =>
      object({ pgSettings: context().get('pgSettings'), withPgClient: context().get('withPgClient') }) as never,
  });
  const codec = recordCodec({
    name: 'rows',
    identifier: sql.identifier('rows'),
    executor,
    attributes: { id: { codec: TYPES.int, notNull: true }, name: { codec: TYPES.text }, parent: { codec: TYPES.int } },
  });
  const table = {
    ...{ name: 'rows', executor, codec, from: codec.sqlType, identifier: 'probe.rows' },
    uniques: [{ attributes: ['id'], isPrimary: true }],
  } as const;
  const { pgResources } = makeRegistryBuilder()
    .addExecutor(executor)
    .addCodec(codec)
    .addResource(table)
    .addRelation(codec, 'parent', table, { localAttributes: ['parent'], remoteAttributes: ['id'], isUnique: true })
    .addRelation(codec, 'children', table, { localAttributes: ['id'], remoteAttributes: ['parent'] })
    .build();
  return pgResources.rows as PgResource;
}
