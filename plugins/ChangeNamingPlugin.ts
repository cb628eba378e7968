import { createNaming, type Naming } from './changeNaming.ts';

declare global {
  namespace GraphileBuild {
    interface Build {
      changeNaming: Naming;
    }
  }
}

/**
 * What changes are called in the graph: `build.changeNaming`, `schema.extensions.changeNaming`.
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
