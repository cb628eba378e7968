import type {} from 'postgraphile';

declare global {
  namespace GraphileConfig {
    interface Plugins {
      SetofTablePlugin: true;
    }
  }
}

/**
 * A function that returns rows of a table (`returns setof app_public.units`) pages, sorts and counts like the table itself.
 * PostGraphile by itself takes the order in which the function happens to return its rows, and numbers them for cursors.
 */
export const SetofTablePlugin: GraphileConfig.Plugin = {
  name: 'SetofTablePlugin',
  description: 'Gives functions that return rows of a table the order and the cursors of that table',
  version: '1.0.0',

  gather: {
    hooks: {
      pgProcedures_functionResourceOptions(_info, { baseResourceOptions, functionResourceOptions }) {
        if (!functionResourceOptions.returnsSetof || !('uniques' in baseResourceOptions)) return;
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
          provides: ['SetofTablePlugin'],
          callback: (behavior, resource) =>
            resource.parameters && !resource.isMutation && resource.uniques.length > 0
              ? [behavior, 'resource:connection:backwards', 'order']
              : behavior,
        },
      },
    },
  },
};
