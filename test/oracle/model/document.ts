import type { GraphQLObjectType } from 'graphql';
import { schema } from './graph.ts';
import type { StepField } from './steps.ts';

export type Operation = { readonly query: string; readonly variables: Readonly<Record<string, unknown>> };

/**
 * The document of several mutation fields, whose arguments are variables.
 * Every argument has a variable, given or not, so that equal selections make equal texts, which the service compiles.
 */
export function writeOperation(fields: readonly StepField[]): Operation {
  const mutation = schema.getMutationType() as GraphQLObjectType;
  const variables: Record<string, unknown> = {};
  const declarations: string[] = [];
  const written = fields.map(({ alias, field, args, isInline, selection }, index) => {
    const definitions = mutation.getFields()[field]?.args ?? [];
    const passed = definitions.flatMap(({ name, type }) => {
      if (isInline) return name in args ? [`${name}: ${inlineOf(name, args[name])}`] : [];
      const variable = `${name}${index}`;
      declarations.push(`$${variable}: ${type}`);
      if (name in args) variables[variable] = args[name];
      return [`${name}: $${variable}`];
    });
    return `${alias ? `${alias}: ` : ''}${field}${passed.length > 0 ? `(${passed.join(', ')})` : ''} { ${selection} }`;
  });
  const declared = declarations.length > 0 ? ` (${declarations.join(', ')})` : '';
  return { query: `mutation${declared} { ${written.join(' ')} }`, variables };
}

/** Names of types are values of an enum. */
const inlineOf = (name: string, value: unknown): string =>
  name === 'typeNames' ? literalOf(value).replaceAll('"', '') : literalOf(value);

/** JSON's strings are GraphQL's, too. */
function literalOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, inner]) => `${name}: ${literalOf(inner)}`)
    .join(', ')} }`;
}
