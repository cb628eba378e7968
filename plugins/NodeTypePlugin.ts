import type { PgSelectSingleStep } from 'postgraphile/@dataplan/pg';
import { sql } from 'postgraphile/pg-sql2';

/**
 * Single-table polymorphism: an id finds a row only if its type column fits.
 * A global id names a type and a key. PostGraphile looks for the key alone, and would show a row of one type as another. So a tampered id
 * finds no row.
 */
export const NodeTypePlugin: GraphileConfig.Plugin = {
  name: 'NodeTypePlugin',
  after: ['PgPolymorphismPlugin'],

  schema: {
    hooks: {
      init(_, build) {
        for (const { polymorphism } of Object.values(build.input.pgRegistry.pgCodecs)) {
          if (polymorphism?.mode !== 'single') continue;
          const [typeColumn = ''] = polymorphism.typeAttributes;
          for (const [value, { name }] of Object.entries(polymorphism.types)) {
            const handler = build.getNodeIdHandler?.(name);
            if (!handler) continue;
            const { get } = handler;
            handler.get = (spec) => {
              const $row = get(spec) as PgSelectSingleStep;
              const $rows = $row.getClassStep();
              $rows.where(sql`${$rows.alias}.${sql.identifier(typeColumn)} = ${sql.literal(value)}`);
              return $row;
            };
          }
        }
        return _;
      },
    },
  },
};
