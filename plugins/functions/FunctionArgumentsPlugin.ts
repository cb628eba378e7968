import type { PgCodec, PgResource, PgResourceParameter } from 'postgraphile/@dataplan/pg';
import { type FieldArgs, lambda, operationPlan, type Step } from 'postgraphile/grafast';
import {
  type GraphQLArgumentConfig,
  type GraphQLArgumentExtensions,
  type GraphQLInputType,
  GraphQLNonNull,
} from 'postgraphile/graphql';
import { refusal } from '../refusal.ts';
import { timeCheckOf } from '../TimeInputPlugin.ts';
import { compositeNamed, InputError, inputOf, isJson, nameInSql } from './inputOf.ts';

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

export type FunctionResource = PgResource<string, PgCodec, never, readonly PgResourceParameter[]>;

type ArgumentConfig = Pick<GraphQLArgumentConfig, 'type' | 'extensions' | 'defaultValue'> & {
  readonly description?: string;
  readonly deprecationReason?: string;
};

const namesOfGiven: InputFromContext = {
  type: null,
  read: (_, given) => Object.keys(given).filter((name) => given[name] !== undefined),
};

/** An argument of a field, and the function's parameter behind it. */
export type FunctionArgument = {
  readonly name: string;
  readonly param: PgResourceParameter;
  /** Null for a parameter that clients do not give. */
  readonly config: ArgumentConfig | null;
  /**
   * Converts the value for the parameter. Null stays null, and undefined leaves it to the default.
   *
   * @throws a `BAD_USER_INPUT`
   */
  readonly read: (value: unknown) => unknown;
  /** Used instead of `read`: makes the value from the context and all arguments. */
  readonly readAll?: (graph: Grafast.Context, given: Given) => unknown;
};

/** A client's values, by the names of arguments. */
export type Given = Readonly<Record<string, unknown>>;

/** An argument whose value follows from the request and all arguments, which have these `names`. */
export type InputFromContext = {
  readonly type: GraphQLInputType | null;
  readonly read: (graph: Grafast.Context, given: Given, argument: string, names: readonly string[]) => unknown;
};

declare global {
  namespace GraphileBuild {
    interface Build {
      /** By the name that stands in braces in the comment of a function. */
      inputsFromContext: ReadonlyMap<string, InputFromContext>;
    }
  }
}

/**
 * The arguments of a function's parameters: one without a default is required.
 * Lines `@param <argument> <description>` in its comment describe them. `@param {Unit} <argument> …` makes a key the id of a Unit, and
 * a `jsonb` the input object of that type. `@param dryRun = true …` gives the argument a default in GraphQL, `… @deprecated <reason>`
 * deprecates it. `@param {Given} …` is no argument: it gets the names of those that the client has given, null ones too.
 *
 * @param offset parameters that are none of the client's
 * @throws when one of them cannot be an argument
 */
export function argumentsOf(build: GraphileBuild.Build, resource: FunctionResource, offset = 0): FunctionArgument[] {
  const parameters = resource.parameters.slice(offset);
  const names = parameters.map((param, index) => build.inflection.argument({ param, resource, index }));
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw problem(resource, `has two parameters with the name ${repeated} in GraphQL`);

  const described = describedArguments(resource, names);
  return parameters.map((param, index) => {
    const name = names[index] ?? '';
    const { typeName, ...words } = described.get(name) ?? {};
    const owner = `The parameter ${param.name ?? name} of the function ${nameInSql(resource)}`;
    const fromContext = typeName === 'Given' ? namesOfGiven : build.inputsFromContext.get(typeName ?? '');
    if (fromContext) {
      const { type } = fromContext;
      const read = (graph: Grafast.Context, given: Given) => fromContext.read(graph, given, name, names);
      const required = type && !param.optional ? new GraphQLNonNull(type) : type;
      const config = required && { ...words, type: required };
      return { name, param, config, read: (value: unknown) => value, readAll: read };
    }
    const input = inputOf(build, param.codec, typeName, owner);
    const refuse = (message: string) => refusal('BAD_USER_INPUT', message, { argument: name });
    const read = (value: unknown) => {
      const problem = timeCheckOf(input.type)?.(value, name);
      if (problem) throw refuse(problem);
      try {
        return value == null ? value : input.read(value, name);
      } catch (error) {
        throw error instanceof InputError ? refuse(error.message) : error;
      }
    };
    const type = param.optional ? input.type : new GraphQLNonNull(input.type);
    const pgCodec = (typeName !== undefined && isJson(param.codec) && compositeNamed(build, typeName)) || param.codec;
    return { name, param, config: { ...words, type, extensions: { readArgument: read, pgCodec } }, read };
  });
}

/** The arguments as GraphQL has them. */
export const configsOf = (args: readonly FunctionArgument[]) =>
  Object.fromEntries(args.flatMap(({ name, config }) => (config ? [[name, { ...config }]] : [])));

/** A value of an argument as PostGraphile passes it to the function. */
export const passed = ({ param }: FunctionArgument, step: Step) => ({
  step,
  pgCodec: param.codec,
  ...(param.name && { name: param.name }),
});

/** The reader of the values of an argument that is a function's parameter. */
export const readerOf = ({ extensions }: { readonly extensions?: GraphQLArgumentExtensions | null | undefined }) =>
  extensions?.readArgument as FunctionArgument['read'] | undefined;

export const problem = (resource: Pick<FunctionResource, 'extensions' | 'name'>, what: string) =>
  new Error(`The function ${nameInSql(resource)} ${what}`);

type DescribedArgument = Pick<ArgumentConfig, 'defaultValue' | 'description' | 'deprecationReason'> & {
  readonly typeName: string | undefined;
};

function describedArguments(resource: FunctionResource, names: readonly string[]) {
  const lines = [resource.extensions?.tags?.param ?? []].flat();
  const described = new Map<string, DescribedArgument>();
  for (const line of lines) {
    const parts = /^(?:\{(\w+)\} )?(\w+)(?: = (\S+))?(?: (.+?))??(?: @deprecated (.+))?$/s.exec(String(line)) ?? [];
    const [, typeName, name = '', value, description, deprecationReason] = parts;
    if (!names.includes(name)) {
      throw problem(resource, `says "@param ${line}", which is not one of its parameters: ${names.join(', ')}`);
    }
    described.set(name, {
      typeName,
      ...(description !== undefined && { description }),
      ...(value !== undefined && { defaultValue: JSON.parse(value) as unknown }),
      ...(deprecationReason !== undefined && { deprecationReason }),
    });
  }
  return described;
}
