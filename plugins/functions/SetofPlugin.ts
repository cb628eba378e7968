import type { PgResource } from 'postgraphile/@dataplan/pg';

/**
 * A function that returns rows of a table (`returns setof app_public.units`) is a connection.
 * It pages, sorts and counts like the table. PostGraphile alone would keep the order in which the function happens to return its rows,
 * and number them for cursors. A result without a key (`returns setof text`, `returns table (…)`) is a plain list, since no cursor
 * could find its place again. A mutation's rows stay in the order in which it returns them.
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
  },
};

const hasKey = ({ uniques }: Pick<PgResource, 'uniques'>) => uniques.length > 0;

const isQuery = ({ parameters, isMutation }: PgResource) => parameters !== undefined && !isMutation;
