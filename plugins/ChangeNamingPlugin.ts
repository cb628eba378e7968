import { createNaming, type Naming } from './changeNaming.ts';

declare global {
  namespace GraphileBuild {
    interface Build {
      changeNaming: Naming;
    }
  }
}

/**
 * What tables, rows and columns are called in the graph, as `build.changeNaming`, once for each schema.
 * Pages and streams of changes read it, and so does what sends webhooks, from the schema's extensions.
 */
export const ChangeNamingPlugin: GraphileConfig.Plugin = {
  name: 'ChangeNamingPlugin',
  after: ['NodeIdPlugin'],

  schema: {
    hooks: {
      build: (build) =>
        build.extend(build, { changeNaming: createNaming(build as GraphileBuild.Build) }, 'ChangeNamingPlugin'),

      GraphQLSchema: (schema, { changeNaming }) => ({ ...schema, extensions: { ...schema.extensions, changeNaming } }),
    },
  },
};
