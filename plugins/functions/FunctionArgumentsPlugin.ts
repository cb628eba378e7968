import type { PgResource } from 'postgraphile/@dataplan/pg';
import { type FieldArgs, lambda, operationPlan } from 'postgraphile/grafast';
import { argumentsOf, configsOf, type FunctionResource, passed, problem } from './functionArguments.ts';

/**
 * Arguments of function fields: required without a default, described, ids for keys, input objects.
 * PostGraphile requires a parameter only if the function is strict. The values are checked before the operation is executed.
 */
export const FunctionArgumentsPlugin: GraphileConfig.Plugin = {
  name: 'FunctionArgumentsPlugin',
  after: ['PgCustomTypeFieldPlugin'],

  schema: {
    hooks: {
      build(build) {
        const { pgGetArgDetailsFromParameters: ofPostGraphile } = build as GraphileBuild.Build;
        build.pgGetArgDetailsFromParameters = (resource, parameters, offset = 0) => {
          const details = ofPostGraphile(resource, parameters, offset);
          return { ...details, ...ownDetails(build as GraphileBuild.Build, resource, offset) };
        };
        return build;
      },
    },
  },
};

function ownDetails(build: GraphileBuild.Build, resource: PgResource, offset: number) {
  const args = argumentsOf(build, resource as unknown as FunctionResource, offset);
  const taken = resource.isUnique ? undefined : args.find(({ name }) => ofLists.has(name));
  if (taken) throw problem(resource, `has a parameter ${taken.name}, which is the name of an argument that lists have`);
  return {
    makeFieldArgs: () => configsOf(args),
    makeArgs: (fieldArgs: FieldArgs, path: string[] = []) =>
      args.map((arg) => {
        const $value = fieldArgs.getRaw([...path, arg.name]);
        // In the root layer: only a value that does not depend on the row can be part of its statement.
        return passed(
          arg,
          operationPlan().withRootLayerPlan(() => lambda($value, arg.read, true)),
        );
      }),
  };
}

const ofLists = new Set(['first', 'last', 'after', 'before', 'offset', 'orderBy', 'ids', 'externalIdentifiers']);
