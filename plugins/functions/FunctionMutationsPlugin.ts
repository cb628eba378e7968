import { type PgCodec, type PgSelectStep, TYPES } from 'postgraphile/@dataplan/pg';
import {
  access,
  context,
  type FieldArgs,
  type GrafastFieldConfig,
  lambda,
  list,
  type ObjectStep,
  object,
  type Step,
} from 'postgraphile/grafast';
import { GraphQLBoolean, GraphQLList, GraphQLNonNull, type GraphQLOutputType } from 'postgraphile/graphql';
import { nodeTypes } from '../NodeIdPlugin.ts';
import { refusal } from '../refusal.ts';
import {
  argumentsOf,
  configsOf,
  type FunctionArgument,
  type FunctionResource,
  type Given,
  passed,
  problem,
} from './FunctionArgumentsPlugin.ts';
import { isComposite } from './inputOf.ts';
import { listOfArray } from './SetofPlugin.ts';

/**
 * Mutations from functions: those in app_public whose comment says `@mutation`.
 * They run with the rights of the token. `door_create` becomes `doorCreate`, its parameters become the arguments, and its result
 * becomes the only field of the payload.
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
  const readArguments = reading(resource, args);
  const { name, ofResult } = payloadFieldOf(build, resource);
  const { deprecated } = resource.extensions?.tags ?? {};

  return {
    type: build.getOutputTypeByName(payloadName(build, resource)),
    ...(resource.description && { description: resource.description }),
    ...(deprecated && { deprecationReason: [deprecated].flat().join('\n') }),
    args: configsOf(args),
    plan(_$root: Step, fieldArgs: FieldArgs) {
      const $values = lambda(list([context(), fieldArgs.getRaw()]), readArguments);
      const values = args.map((arg, index) => passed(arg, access($values, index)));
      return object({ [name]: ofResult(resource.execute(values, 'mutation') as Step) });
    },
  };
}

type FromRequest = readonly [Grafast.Context, Given];

/** The values of the parameters, in their order. `FORBIDDEN` is thrown before a wrong value's error. */
const reading =
  (resource: FunctionResource, args: readonly FunctionArgument[]) =>
  async ([graph, all]: FromRequest) => {
    try {
      const values = args.map(async ({ name, read, readAll }) => (readAll ? readAll(graph, all) : read(all[name])));
      return await Promise.all(values);
    } catch (error) {
      throw (await mayCall(graph, resource)) ? error : refusal('FORBIDDEN', 'The access token does not allow this.');
    }
  };

async function mayCall(graph: Grafast.Context, { extensions }: FunctionResource): Promise<boolean> {
  const { rows } = await graph.withPgClient(graph.pgSettings, (client) =>
    client.query<{ may: boolean }>({
      text: `select has_function_privilege(p.oid, 'execute') as may
        from pg_proc p join pg_namespace s on s.oid = p.pronamespace and s.nspname = $1 and p.proname = $2`,
      values: [extensions?.pg?.schemaName, extensions?.pg?.name],
    }),
  );
  return rows[0]?.may === true;
}

type PayloadField = {
  readonly name: string;
  readonly type: GraphQLOutputType;
  readonly description: string;
  /** Makes the field's value from what the function returned. */
  readonly ofResult: ($result: Step) => Step;
};

/**
 * The payload of a function: a row, rows, a value or, for `void`, that it is done.
 * A row's field has its type's name, rows have the plural, a value has `result`. `@payloadField` gives the field another name.
 *
 * @throws when GraphQL cannot have it
 */
function payloadFieldOf(build: GraphileBuild.Build, resource: FunctionResource): PayloadField {
  const { codec, isUnique, isList, sqlPartitionByIndex } = resource;
  if (sqlPartitionByIndex || (codec.arrayOfCodec && !isUnique))
    throw problem(resource, 'returns a set of arrays; let it return the set of their items');
  if (codec === TYPES.void) {
    if (!isUnique) throw problem(resource, 'returns setof void; let it return void');
    return done;
  }
  const item = codec.arrayOfCodec ?? codec;
  const { notNull, returnType, payloadField: ownName } = resource.extensions?.tags ?? {};
  // The rows' type may be an interface; these rows are always of this type.
  const itemType = (
    returnType === undefined
      ? build.getGraphQLTypeByPgCodec(item, 'output')
      : nodeTypes(build, item).includes(String(returnType)) && build.getTypeByName(String(returnType))
  ) as GraphQLOutputType | null | false;
  if (!itemType || item.arrayOfCodec)
    throw problem(resource, `returns ${returnType ?? item.name}, which GraphQL does not have`);
  const isMany = !isUnique || isList || codec.arrayOfCodec !== undefined;
  // An array may be null, and so may its items.
  const isSet = !isUnique && !isList;
  const isNotNull = isSet || notNull !== undefined;
  const type = isMany ? new GraphQLList(isSet && item.attributes ? new GraphQLNonNull(itemType) : itemType) : itemType;
  return {
    ...nameOfResult(build, item, isMany),
    ...(typeof ownName === 'string' && { name: ownName }),
    type: isNotNull ? new GraphQLNonNull(type) : type,
    ofResult: ($result) => (isList ? listOfArray($result as PgSelectStep) : $result),
  };
}

const done: PayloadField = {
  name: 'ok',
  type: new GraphQLNonNull(GraphQLBoolean),
  description: 'True: it is done.',
  ofResult: ($result) => lambda($result, () => true, true),
};

function nameOfResult(build: GraphileBuild.Build, codec: PgCodec, isMany: boolean) {
  if (!codec.attributes || isComposite(codec))
    return { name: 'result', description: isMany ? 'What came of it, one by one.' : 'What came of it.' };
  const { inflection } = build;
  const typeName = inflection.tableType(codec as Parameters<typeof inflection.tableType>[0]);
  const name = inflection.camelCase(isMany ? inflection.pluralize(typeName) : typeName);
  const description = isMany
    ? 'The rows after the change; as they were, when they were deleted.'
    : 'The row after the change; as it was, when it was deleted.';
  return { name, description };
}
