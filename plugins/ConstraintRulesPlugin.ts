import type {} from 'postgraphile';

declare global {
  namespace GraphileConfig {
    interface Plugins {
      ConstraintRulesPlugin: true;
    }
  }
  namespace GraphileBuild {
    interface BuildInput {
      constraintRules: ConstraintRules;
    }
  }
}

/** What a client reads when it breaks a constraint: the argument to blame and a sentence. By constraint or unique index name. */
export type ConstraintRules = Readonly<Record<string, { readonly argument: string; readonly message: string }>>;

/**
 * Reads the comments of constraints and unique indexes that carry `@argument`, and hands them on in `schema.extensions.constraintRules`,
 * so that a new rule in a migration comes with its own error message.
 */
export const ConstraintRulesPlugin: GraphileConfig.Plugin = {
  name: 'ConstraintRulesPlugin',
  description: 'Takes the messages for broken constraints from their comments',
  version: '1.0.0',

  gather: {
    async main(output, info) {
      const results = await info.helpers.pgIntrospection.getIntrospection();
      output.constraintRules = Object.fromEntries(
        results.flatMap(({ introspection }) => [
          ...introspection.constraints.flatMap((constraint) =>
            rule(constraint.conname, constraint.getTagsAndDescription()),
          ),
          ...introspection.indexes.flatMap((index) => {
            const indexClass = index.getIndexClass();
            return indexClass ? rule(indexClass.relname, indexClass.getTagsAndDescription()) : [];
          }),
        ]),
      );
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

type Comment = { readonly tags: Readonly<Record<string, unknown>>; readonly description: string | undefined };

function rule(name: string, { tags, description }: Comment) {
  return typeof tags.argument === 'string' && description
    ? [[name, { argument: tags.argument, message: description }] as const]
    : [];
}
