import { type PgCodec, type PgResource, type PgResourceParameter, TYPES } from 'postgraphile/@dataplan/pg';
import type { Step } from 'postgraphile/grafast';
import {
  type GraphQLArgumentConfig,
  type GraphQLArgumentExtensions,
  type GraphQLInputType,
  GraphQLNonNull,
} from 'postgraphile/graphql';
import { refusal } from '../refusal.ts';
import { InputError, nameOf } from './input.ts';
import { inputOf } from './inputOf.ts';

/** A function of PostgreSQL as a resource. */
export type FunctionResource = PgResource<string, PgCodec, never, readonly PgResourceParameter[]>;

type ArgumentConfig = Pick<GraphQLArgumentConfig, 'type' | 'extensions' | 'defaultValue'> & {
  readonly description?: string;
  readonly deprecationReason?: string;
};

/** An argument of a field, and the parameter of the function that it is. */
export type FunctionArgument = {
  readonly name: string;
  readonly param: PgResourceParameter;
  readonly config: ArgumentConfig;
  /**
   * The value for the parameter; null stays null, and undefined leaves it to the default.
   *
   * @throws a `BAD_USER_INPUT`
   */
  readonly read: (value: unknown) => unknown;
  /** In the place of that: the value from the context and all arguments. */
  readonly readAll?: (graph: Grafast.Context, given: Given) => unknown;
};

/** What a client has given, by the names of arguments. */
export type Given = Readonly<Record<string, unknown>>;

/** An argument whose value for the function follows from the request and all of its arguments, whose `names` are these. */
export type InputFromContext = {
  readonly type: GraphQLInputType;
  readonly read: (graph: Grafast.Context, given: Given, argument: string, names: readonly string[]) => unknown;
};

declare global {
  namespace GraphileBuild {
    interface Build {
      /** By the name in braces in the comment of a function. */
      inputsFromContext: ReadonlyMap<string, InputFromContext>;
    }
  }
}

/**
 * The arguments that a function's parameters are: one without a default is required.
 * Lines `@param <argument> <description>` in its comment describe them; `@param {Unit} <argument> …` makes a key the id of a Unit, and a
 * `jsonb` the input object of that type. `@param dryRun = true …` gives the argument a default in GraphQL, `@deprecatedParam <argument> <reason>`
 * deprecates it, and the parameter that `@given` names is none: it has the names of those that the client has given, null ones too.
 *
 * @param offset parameters that are none of the client's
 * @throws when one of them cannot be an argument
 */
export function argumentsOf(build: GraphileBuild.Build, resource: FunctionResource, offset = 0): FunctionArgument[] {
  const given = givenParameter(resource);
  const parameters = resource.parameters.slice(offset).filter((param) => param !== given);
  const names = parameters.map((param, index) => build.inflection.argument({ param, resource, index }));
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw problem(resource, `has two parameters with the name ${repeated} in GraphQL`);

  const described = describedArguments(resource, names);
  const deprecated = deprecatedArguments(resource, names);
  return parameters.map((param, index) => {
    const name = names[index] ?? '';
    const { typeName, defaultValue, description } = described.get(name) ?? {};
    const deprecationReason = deprecated.get(name);
    const owner = `The parameter ${param.name ?? name} of the function ${nameOf(resource)}`;
    const fromContext = build.inputsFromContext.get(typeName ?? '');
    const input = fromContext
      ? { type: fromContext.type, read: (value: unknown) => value }
      : inputOf(build, param.codec, typeName, owner);
    const read = (value: unknown) => {
      try {
        return value == null ? value : input.read(value, name);
      } catch (error) {
        throw error instanceof InputError ? refusal('BAD_USER_INPUT', error.message, { argument: name }) : error;
      }
    };
    const type = param.optional ? input.type : new GraphQLNonNull(input.type);
    const config = {
      ...{ type, extensions: { readArgument: read } },
      ...(description && { description }),
      ...(defaultValue !== undefined && { defaultValue }),
      ...(deprecationReason !== undefined && { deprecationReason }),
    };
    const readAll = (graph: Grafast.Context, all: Given) => fromContext?.read(graph, all, name, names);
    return { name, param, config, read, ...(fromContext && { readAll }) };
  });
}

/** The parameter that has the names of the arguments that a client has given. @throws when there is none that `@given` names */
export function givenParameter(resource: FunctionResource): PgResourceParameter | undefined {
  const name = resource.extensions?.tags?.given;
  if (name === undefined) return undefined;
  const parameter = resource.parameters.find((param) => param.name === name);
  if (parameter?.codec.arrayOfCodec === TYPES.text) return parameter;
  throw problem(resource, `says "@given ${name}", which is none of its parameters, or no text[]`);
}

/** A value of an argument as PostGraphile passes it to the function. */
export const passed = ({ param }: Pick<FunctionArgument, 'param'>, step: Step) => ({
  step,
  pgCodec: param.codec,
  ...(param.name && { name: param.name }),
});

/** What reads the values of an argument that is a function's parameter. */
export const readerOf = ({ extensions }: { readonly extensions?: GraphQLArgumentExtensions | null | undefined }) =>
  extensions?.readArgument as FunctionArgument['read'] | undefined;

export const problem = (resource: Pick<FunctionResource, 'extensions' | 'name'>, what: string) =>
  new Error(`The function ${nameOf(resource)} ${what}`);

type DescribedArgument = {
  readonly typeName: string | undefined;
  readonly defaultValue: unknown;
  readonly description: string;
};

function describedArguments(resource: FunctionResource, names: readonly string[]) {
  const pattern = /^(?:\{(\w+)\} )?(\w+)(?: = (\S+))?(?: (.+))?$/s;
  return new Map(
    tagLines(resource, 'param', names, pattern, 2).map(([, typeName, name = '', defaultValue, description = '']) => {
      const value: unknown = defaultValue === undefined ? undefined : JSON.parse(defaultValue);
      return [name, { typeName, defaultValue: value, description } satisfies DescribedArgument];
    }),
  );
}

const deprecatedArguments = (resource: FunctionResource, names: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    tagLines(resource, 'deprecatedParam', names, /^(\w+) (.+)$/s, 1).map(([, name = '', reason = '']) => [
      name,
      reason,
    ]),
  );

/** Lines of a comment that are about an argument. @throws when one is not */
function tagLines(resource: FunctionResource, tag: string, names: readonly string[], pattern: RegExp, group: number) {
  return [resource.extensions?.tags?.[tag] ?? []].flat().map((line) => {
    const parts = pattern.exec(String(line));
    if (parts && names.includes(parts[group] ?? '')) return parts;
    throw problem(resource, `says "@${tag} ${line}", which is not one of its parameters: ${names.join(', ')}`);
  });
}
