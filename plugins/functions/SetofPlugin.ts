import type { PgResource } from 'postgraphile/@dataplan/pg';

/**
 * A function that returns rows of a table (`returns setof app_public.units`) is a connection.
 * It pages, sorts and counts like the table. PostGraphile by itself takes the order in which the function happens to return its rows, and
 * numbers them for cursors. What has no key (`returns setof text`, `returns table (…)`) is a plain list: no cursor could find its place
 * again. What a mutation returns stays in the order in which it does.
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
        // What is inferred cannot turn on what the preset turns off.
        override: (behavior, resource) =>
          isQuery(resource) && !hasKey(resource) && !resource.isUnique ? [behavior, '-connection', 'list'] : behavior,
      },
    },
  },
};

const hasKey = ({ uniques }: Pick<PgResource, 'uniques'>) => uniques.length > 0;

const isQuery = ({ parameters, isMutation }: PgResource) => parameters !== undefined && !isMutation;
