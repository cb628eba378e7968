import {
  bakedInput,
  type FieldArgs,
  type GrafastFieldConfig,
  lambda,
  type ObjectStep,
  object,
  type Step,
} from 'postgraphile/grafast';
import type { GraphQLInputType } from 'postgraphile/graphql';
import { decodeNodeId } from './NodeIdPlugin.ts';
import { refusal } from './refusal.ts';

declare global {
  namespace GraphileConfig {
    interface Plugins {
      FunctionMutationsPlugin: true;
    }
  }
}

/**
 * A function in app_public whose comment says `@mutation` is a mutation, with the rights of the token: `door_create` becomes
 * `doorCreate`, its parameters the arguments (one without a default is required), its row the only field of the payload.
 *
 * Lines `@param <argument> <description>` describe the arguments; `@param {Unit} <argument> …` makes a uuid the id of a Unit.
 */
export const FunctionMutationsPlugin: GraphileConfig.Plugin = {
  name: 'FunctionMutationsPlugin',
  description: 'Makes mutations of functions that say so in their comments',
  version: '1.0.0',
  after: ['PgCodecs'],

  schema: {
    hooks: {
      init(_, build) {
        for (const resource of mutations(build)) {
          const field = build.inflection.customMutationField({ resource });
          build.registerObjectType(
            payloadName(build, resource),
            {},
            () => ({
              description: `The result of \`${field}\`.`,
              fields: () => ({
                [resultName(build, resource)]: {
                  description: 'The row after the change; as it was, when it was deleted.',
                  type: build.getOutputTypeByName(build.inflection.tableType(resource.codec)),
                  plan: ($payload: Step) => ($payload as ObjectStep).get(resultName(build, resource)),
                },
              }),
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

type FunctionResource = Parameters<GraphileBuild.Inflection['customMutationField']>[0]['resource'];

function mutations(build: GraphileBuild.Build): FunctionResource[] {
  const functions = Object.values(build.pgResources).filter(({ parameters }) => parameters) as FunctionResource[];
  return functions.filter((resource) => {
    if (resource.extensions?.tags?.mutation === undefined) return false;
    if (!resource.isMutation || !resource.isUnique || !resource.codec.attributes) {
      throw new Error(
        `The function ${resource.name} is no @mutation: it must be volatile and return one row of a table`,
      );
    }
    return true;
  });
}

const payloadName = (build: GraphileBuild.Build, resource: FunctionResource) =>
  build.inflection.customMutationPayload({ resource });

const resultName = (build: GraphileBuild.Build, { codec }: FunctionResource) =>
  build.inflection.camelCase(build.inflection.tableType(codec));

function mutationField(build: GraphileBuild.Build, resource: FunctionResource): GrafastFieldConfig<Step> {
  const { GraphQLID, GraphQLNonNull } = build.graphql;
  const described = describedParameters(build, resource);
  const args = resource.parameters.map((param, index) => {
    const name = build.inflection.argument({ param, resource, index });
    const { description, nodeType } = described[name] ?? {};
    if (nodeType && !build.getNodeIdHandler?.(nodeType))
      throw new Error(
        `The function ${resource.name} has a parameter ${name}, said to be {${nodeType}}: there is no such type`,
      );
    const type = nodeType ? GraphQLID : build.getGraphQLTypeByPgCodec(param.codec, 'input');
    if (!type)
      throw new Error(`The function ${resource.name} has a parameter ${name} of a type that is not in the graph`);
    return { name, param, nodeType, type: type as GraphQLInputType, description };
  });

  return {
    type: build.getOutputTypeByName(payloadName(build, resource)),
    ...(resource.description && { description: resource.description }),
    args: Object.fromEntries(
      args.map(({ name, type, description, param }) => [
        name,
        { type: param.optional ? type : new GraphQLNonNull(type), ...(description && { description }) },
      ]),
    ),
    plan(_$root: Step, fieldArgs: FieldArgs) {
      const values = args.map(({ name, param, nodeType }) => {
        const $value = bakedInput(fieldArgs.typeAt(name), fieldArgs.getRaw(name));
        const step = lambda($value, nodeType ? (id) => keyOf(name, nodeType, id) : (value) => checked(name, value));
        return { step, pgCodec: param.codec, ...(param.name && { name: param.name }) };
      });
      return object({ [resultName(build, resource)]: resource.execute(values, 'mutation') as Step });
    },
  };
}

/** The key in a global id; null and undefined stay what they are: a default, and none. */
function keyOf(argument: string, typeName: string, id: unknown): unknown {
  if (id == null) return id;
  const [type, uuid] = decodeNodeId(id) ?? [];
  if (type === typeName) return uuid;
  throw refusal('BAD_USER_INPUT', `${argument} is not the id of a ${typeName}.`, { argument });
}

/** PostgreSQL stores neither NUL nor half a surrogate pair. */
function checked(argument: string, value: unknown): unknown {
  if (isUnicode(value)) return value;
  throw refusal('BAD_USER_INPUT', `${argument} contains a character that is not Unicode text.`, { argument });
}

function isUnicode(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  return typeof value !== 'object' || value === null || Object.values(value).every(isUnicode);
}

/**
 * The lines `@param [{Type}] <argument> <description>` in a function's comment, by the argument.
 *
 * @throws when a line is written otherwise or names no parameter
 */
function describedParameters(
  build: GraphileBuild.Build,
  resource: FunctionResource,
): Readonly<Record<string, DescribedParameter>> {
  const names = resource.parameters.map((param, index) => build.inflection.argument({ param, resource, index }));
  const lines = [resource.extensions?.tags?.param ?? []].flat();
  return Object.fromEntries(
    lines.map((line) => {
      const [, nodeType, name = '', description = ''] = /^(?:\{(\w+)\} )?(\w+) (.+)$/s.exec(String(line)) ?? [];
      if (!names.includes(name)) {
        throw new Error(`${resource.name}: "@param ${line}" is not one of its parameters: ${names.join(', ')}`);
      }
      return [name, { description, nodeType }];
    }),
  );
}

type DescribedParameter = {
  readonly description: string;
  /** Set when the argument is the id of an object of this type. */
  readonly nodeType: string | undefined;
};
