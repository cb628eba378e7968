import type { PgCodec, PgResource, PgResourceParameter } from 'postgraphile/@dataplan/pg';
import type { Step } from 'postgraphile/grafast';
import { type GraphQLArgumentConfig, type GraphQLArgumentExtensions, GraphQLNonNull } from 'postgraphile/graphql';
import { refusal } from '../refusal.ts';
import { InputError, nameOf } from './input.ts';
import { inputOf } from './inputOf.ts';

/** A function of PostgreSQL as a resource. */
export type FunctionResource = PgResource<string, PgCodec, never, readonly PgResourceParameter[]>;

type ArgumentConfig = Pick<GraphQLArgumentConfig, 'type' | 'extensions'> & { readonly description?: string };

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
};

/**
 * The arguments that a function's parameters are: one without a default is required.
 * Lines `@param <argument> <description>` in its comment describe them; `@param {Unit} <argument> …` makes a key the id of a Unit, and a
 * `jsonb` the input object of that type.
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
    const { typeName, description } = described.get(name) ?? {};
    const owner = `The parameter ${param.name ?? name} of the function ${nameOf(resource)}`;
    const input = inputOf(build, param.codec, typeName, owner);
    const read = (value: unknown) => {
      try {
        return value == null ? value : input.read(value, name);
      } catch (error) {
        throw error instanceof InputError ? refusal('BAD_USER_INPUT', error.message, { argument: name }) : error;
      }
    };
    const type = param.optional ? input.type : new GraphQLNonNull(input.type);
    const config = { type, extensions: { readArgument: read }, ...(description && { description }) };
    return { name, param, config, read };
  });
}

/** A value of an argument as PostGraphile passes it to the function. */
export const passed = ({ param }: FunctionArgument, step: Step) => ({
  step,
  pgCodec: param.codec,
  ...(param.name && { name: param.name }),
});

/** What reads the values of an argument that is a function's parameter. */
export const readerOf = ({ extensions }: { readonly extensions?: GraphQLArgumentExtensions | null | undefined }) =>
  extensions?.readArgument as FunctionArgument['read'] | undefined;

export const problem = (resource: Pick<FunctionResource, 'extensions' | 'name'>, what: string) =>
  new Error(`The function ${nameOf(resource)} ${what}`);

type DescribedArgument = { readonly typeName: string | undefined; readonly description: string };

function describedArguments(resource: FunctionResource, names: readonly string[]) {
  const lines = [resource.extensions?.tags?.param ?? []].flat();
  const described = new Map<string, DescribedArgument>();
  for (const line of lines) {
    const [, typeName, name = '', description = ''] = /^(?:\{(\w+)\} )?(\w+)(?: (.+))?$/s.exec(String(line)) ?? [];
    if (!names.includes(name)) {
      throw problem(resource, `says "@param ${line}", which is not one of its parameters: ${names.join(', ')}`);
    }
    described.set(name, { typeName, description });
  }
  return described;
}
