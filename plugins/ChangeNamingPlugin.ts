import { createNaming, type Naming } from './changeNaming.ts';

declare global {
  namespace GraphileBuild {
    interface Build {
      changeNaming: Naming;
    }
  }
}

/**
 * Names of changes in the graph: `build.changeNaming` and `schema.extensions.changeNaming`.
 * They are made once for a schema, for pages, for streams of changes, and for webhooks.
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
