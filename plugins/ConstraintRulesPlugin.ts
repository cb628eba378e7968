import { type ConstraintRule, type ConstraintRules, isRuleOf, rulesOf } from './constraintRules.ts';

declare global {
  namespace GraphileBuild {
    interface BuildInput {
      constraintRules: ConstraintRules;
    }
  }
}

/** By the name of the GraphQL type that shows the table. */
export type ConstraintsOfTypes = ReadonlyMap<string, readonly ConstraintRule[]>;

/**
 * Error messages from comments of constraints and unique indexes: `extensions.constraintRules`.
 * So a new constraint in a migration comes with its own error message. `extensions.constraintsOfTypes` has them for the documentation.
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
        extensions: {
          ...schema.extensions,
          constraintRules: build.input.constraintRules,
          constraintsOfTypes: constraintsOfTypes(build),
        },
      }),
    },
  },
};

function constraintsOfTypes({ input, inflection }: GraphileBuild.Build): ConstraintsOfTypes {
  const tables = Object.values(input.pgRegistry.pgCodecs).flatMap((codec) => {
    const { schemaName, name } = codec.extensions?.pg ?? {};
    if (!codec.attributes || codec.isAnonymous || !schemaName || !name) return [];
    const rules = [...input.constraintRules].filter(([key]) => isRuleOf(key, schemaName, name));
    return [[inflection.tableType(codec), rules.map(([, rule]) => rule)] as const];
  });
  return new Map(tables);
}
