import type { FunctionResource } from './functions/functionArguments.ts';
import { type FunctionTexts, type RaisedError, raisedErrors } from './raisedErrors.ts';

declare global {
  namespace GraphileBuild {
    interface BuildInput {
      functionTexts: FunctionTexts;
    }
  }
}

/** By the name of the mutation. */
export type ErrorsOfMutations = ReadonlyMap<string, readonly RaisedError[]>;

/**
 * Errors that mutations raise, for the documentation: `extensions.errorsOfMutations`.
 * They are read from the functions themselves, so that a new mutation is there at once.
 */
export const RaisedErrorsPlugin: GraphileConfig.Plugin = {
  name: 'RaisedErrorsPlugin',

  gather: {
    async main(output, { helpers }) {
      const results = await helpers.pgIntrospection.getIntrospection();
      const functions = results.flatMap(({ introspection }) => introspection.procs);
      const named = Map.groupBy(functions, (it) => `${it.getNamespace()?.nspname}.${it.proname}`);
      output.functionTexts = new Map(
        Array.from(named, ([name, overloads]) => [name, overloads.map(({ prosrc }) => prosrc).join('\n')]),
      );
    },
  },

  schema: {
    hooks: {
      GraphQLSchema: (schema, build) => ({
        ...schema,
        extensions: { ...schema.extensions, errorsOfMutations: errorsOfMutations(build) },
      }),
    },
  },
};

function errorsOfMutations({ input, inflection }: GraphileBuild.Build): ErrorsOfMutations {
  const resources = Object.values(input.pgRegistry.pgResources) as FunctionResource[];
  const mutations = resources.filter(({ isMutation }) => isMutation);
  return new Map(
    mutations.map((resource) => {
      const { schemaName, name } = resource.extensions?.pg ?? {};
      return [inflection.customMutationField({ resource }), raisedErrors(`${schemaName}.${name}`, input.functionTexts)];
    }),
  );
}
