import { createNaming, type Naming } from './changeNaming.ts';

declare global {
  namespace GraphileBuild {
    interface Build {
      changeNaming: Naming;
    }
  }
}

/**
 * Names of tables, rows and columns in the graph: `changeNaming` of the build, and of the schema.
 * Once for a schema: pages and streams of changes read it, and so does what sends webhooks.
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
