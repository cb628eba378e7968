import { type ConstraintRules, rulesOf } from './constraintRules.ts';

declare global {
  namespace GraphileBuild {
    interface BuildInput {
      constraintRules: ConstraintRules;
    }
  }
}

/**
 * Error messages from comments of constraints and unique indexes: `extensions.constraintRules`.
 * So a new constraint in a migration comes with its own error message.
 */
export const ConstraintRulesPlugin: GraphileConfig.Plugin = {
  name: 'ConstraintRulesPlugin',

  gather: {
    async main(output, { helpers, inflection }) {
      const results = await helpers.pgIntrospection.getIntrospection();
      const camelCase = (name: string) => inflection.camelCase(name);
      output.constraintRules = new Map(results.flatMap(({ introspection }) => [...rulesOf(introspection, camelCase)]));
    },
  },

  schema: {
    hooks: {
      GraphQLSchema: (schema, build) => ({
        ...schema,
        extensions: { ...schema.extensions, constraintRules: build.input.constraintRules },
      }),
    },
  },
};
