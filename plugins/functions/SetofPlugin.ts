import {
  type PgResource,
  type PgSelectSingleStep,
  type PgSelectStep,
  sqlFromArgDigests,
} from 'postgraphile/@dataplan/pg';
import { lambda, type Step } from 'postgraphile/grafast';
import { GraphQLList, getNullableType, isListType } from 'postgraphile/graphql';
import { type SQL, sql } from 'postgraphile/pg-sql2';
import { selectCell } from '../internals.ts';

/**
 * A function that returns rows of a table (`returns setof app_public.units`) is a connection.
 * It pages, sorts and counts like the table. PostGraphile alone would keep the order in which the function happens to return its rows,
 * and number them for cursors. A result without a key (`returns setof text`, `returns table (…)`) is a plain list, since no cursor
 * could find its place again. A mutation's rows stay in the order in which it returns them. An array of rows is a list, too, or null.
 */
export const SetofPlugin: GraphileConfig.Plugin = {
  name: 'SetofPlugin',

  inflection: {
    replace: {
      computedAttributeListField(ofPostGraphile, _options, details) {
        if (!hasKey(details.resource)) return this.computedAttributeField(details);
        return ofPostGraphile?.(details) ?? this.computedAttributeField(details);
      },
    },
  },

  gather: {
    hooks: {
      pgProcedures_functionResourceOptions(_info, { baseResourceOptions, functionResourceOptions }) {
        const { returnsSetof, isMutation } = functionResourceOptions;
        if (!returnsSetof || isMutation || !('uniques' in baseResourceOptions)) return;
        functionResourceOptions.uniques = baseResourceOptions.uniques;
        functionResourceOptions.hasImplicitOrder = false;
      },

      pgProcedures_PgResourceOptions(_info, { pgProc, resourceOptions }) {
        if (!resourceOptions.isList) return;
        const name = sql.identifier(pgProc.getNamespace()?.nspname ?? '', pgProc.proname);
        resourceOptions.from = (...args) => rowsOfArray(sql`${name}(${sqlFromArgDigests(args)})`);
      },
    },
  },

  schema: {
    entityBehavior: {
      pgResource: {
        inferred: {
          after: ['default'],
          provides: ['SetofPlugin'],
          callback: (behavior, resource) =>
            isQuery(resource) && hasKey(resource) ? [behavior, 'resource:connection:backwards', 'order'] : behavior,
        },
        // An inferred behavior cannot turn on what the preset turns off.
        override: (behavior, resource) =>
          isQuery(resource) && !hasKey(resource) && !resource.isUnique ? [behavior, '-connection', 'list'] : behavior,
      },
    },
    hooks: {
      GraphQLObjectType_fields_field(field, _build, { scope: { isPgFieldSimpleCollection, pgFieldResource } }) {
        const { type, plan } = field;
        if (!pgFieldResource?.parameters) return field;
        if (pgFieldResource.isList && plan)
          return { ...field, plan: (...args) => listOfArray(plan(...args) as unknown as PgSelectStep) };
        const isNotNull = pgFieldResource.extensions?.tags?.notNull !== undefined;
        if (!isPgFieldSimpleCollection || hasKey(pgFieldResource) || isNotNull || !isListType(type)) return field;
        // PostGraphile answers a null in a set of values with an error.
        return { ...field, type: new GraphQLList(getNullableType(type.ofType)) };
      },
    },
  },
};

const hasKey = ({ uniques }: Pick<PgResource, 'uniques'>) => uniques.length > 0;

const isQuery = ({ parameters, isMutation }: PgResource) => parameters !== undefined && !isMutation;

const source = sql.identifier(Symbol('source'));

/** The rows of an array, in which one row without values marks an array that is null: `unnest` alone makes of it an empty one. */
export const rowsOfArray = (array: SQL): SQL =>
  sql`(select ${array} as items offset 0) as ${source} cross join lateral unnest(coalesce(${source}.items, array_append(${source}.items, null)))`;

/** The list of a statement over {@link rowsOfArray}; null when the array is. */
export function listOfArray($rows: PgSelectStep): Step {
  let mark: number;
  const $list = lambda(
    $rows.items() as Step<readonly (readonly unknown[])[]>,
    (rows) => (rows[0]?.[mark] === 'true' ? null : rows),
    true,
  );
  const listItem = ($item: Step) => {
    const $row = $rows.listItem($item as never) as unknown as PgSelectSingleStep;
    // Grafast adds no cell before the arguments of the field are known.
    mark = selectCell($row.getClassStep(), sql`(${source}.items is null)::text`);
    return $row;
  };
  return Object.assign($list, { listItem });
}
