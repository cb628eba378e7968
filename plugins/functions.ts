import type {} from 'postgraphile';

/** A function in app_public, as PostGraphile knows it. */
export type FunctionResource = Parameters<GraphileBuild.Inflection['customMutationField']>[0]['resource'];

export const functionsOf = (build: GraphileBuild.Build) =>
  Object.values(build.pgResources).filter(({ parameters }) => parameters) as FunctionResource[];

export type DescribedParameter = {
  readonly description: string;
  /** Set when the argument is the id of an object of this type. */
  readonly nodeType: string | undefined;
};

/**
 * The lines `@param [{Type}] <argument> <description>` in a function's comment, by the argument.
 *
 * @throws when a line is written otherwise or names no parameter
 */
export function describedParameters(
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
