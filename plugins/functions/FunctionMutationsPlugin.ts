import {
  type FieldArgs,
  type GrafastFieldConfig,
  lambda,
  type ObjectStep,
  object,
  type Step,
} from 'postgraphile/grafast';
import {
  argumentsOf,
  type FunctionResource,
  type Given,
  givenParameter,
  passed,
  problem,
} from './functionArguments.ts';
import { payloadFieldOf } from './payloadField.ts';

/**
 * Mutations from functions: those in app_public whose comment says `@mutation`.
 * They have the rights of the token. `door_create` becomes `doorCreate`, its parameters the arguments, what it returns the only field of
 * the payload.
 */
export const FunctionMutationsPlugin: GraphileConfig.Plugin = {
  name: 'FunctionMutationsPlugin',
  after: ['PgCodecs'],

  schema: {
    hooks: {
      init(_, build) {
        for (const resource of mutations(build)) {
          const mutation = build.inflection.customMutationField({ resource });
          build.registerObjectType(
            payloadName(build, resource),
            {},
            () => ({
              description: `The result of \`${mutation}\`.`,
              fields: () => {
                const { name, type, description } = payloadFieldOf(build, resource);
                return { [name]: { type, description, plan: ($payload: Step) => ($payload as ObjectStep).get(name) } };
              },
            }),
            'FunctionMutationsPlugin payload',
          );
        }
        return _;
      },

      GraphQLObjectType_fields(fields, build, { scope, fieldWithHooks }) {
        if (!scope.isRootMutation) return fields;
        const added = mutations(build).map((resource) => {
          const fieldName = build.inflection.customMutationField({ resource });
          return [fieldName, fieldWithHooks({ fieldName }, mutationField(build, resource))];
        });
        return build.extend(fields, Object.fromEntries(added), 'Adding functions that are mutations');
      },
    },
  },
};

function mutations(build: GraphileBuild.Build): FunctionResource[] {
  const functions = Object.values(build.pgResources).filter(({ parameters }) => parameters) as FunctionResource[];
  return functions.filter((resource) => {
    if (resource.extensions?.tags?.mutation === undefined) return false;
    if (!resource.isMutation) throw problem(resource, 'is no @mutation: it must be volatile');
    return true;
  });
}

const payloadName = (build: GraphileBuild.Build, resource: FunctionResource) =>
  build.inflection.customMutationPayload({ resource });

function mutationField(build: GraphileBuild.Build, resource: FunctionResource): GrafastFieldConfig<Step> {
  const args = argumentsOf(build, resource);
  const given = givenParameter(resource);
  const { name, ofResult } = payloadFieldOf(build, resource);
  const { deprecated } = resource.extensions?.tags ?? {};

  return {
    type: build.getOutputTypeByName(payloadName(build, resource)),
    ...(resource.description && { description: resource.description }),
    ...(deprecated && { deprecationReason: [deprecated].flat().join('\n') }),
    args: Object.fromEntries(args.map(({ name: argument, config }) => [argument, { ...config }])),
    plan(_$root: Step, fieldArgs: FieldArgs) {
      const values = args.map((arg) => passed(arg, lambda(fieldArgs.getRaw(arg.name), arg.read)));
      if (given) values.push(passed({ param: given }, lambda(fieldArgs.getRaw(), namesOfGiven)));
      return object({ [name]: ofResult(resource.execute(values, 'mutation') as Step) });
    },
  };
}

const namesOfGiven = (args: Given) => Object.keys(args).filter((name) => args[name] !== undefined);
