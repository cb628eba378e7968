import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { schemaFile } from './clients/workshop.ts';
import { askUntilServed, type GraphTest, globalId, type Tenant } from './support.ts';

/** Returns the data of the mutation's field, or the extensions of its only error. */
export type Mutate = (field: string, args: object, selection: string, token?: string) => Promise<unknown>;

/** Sends one mutation with its arguments as variables, so that it is planned once, whatever they are. */
export const mutating =
  (graph: GraphTest, tenant: Tenant): Mutate =>
  async (field, args, selection, token = tenant.app) => {
    const names = Object.keys(args);
    const types = await typesOfArguments(field);
    const declared = names.map((name) => `$${name}: ${types.get(name)}`);
    const passed = names.map((name) => `${name}: $${name}`);
    const query =
      names.length > 0
        ? `mutation (${declared.join(', ')}) { it: ${field}(${passed.join(', ')}) { ${selection} } }`
        : `mutation { it: ${field} { ${selection} } }`;
    const { status, body } = await askUntilServed(graph, token, query, { ...args });
    expect(status).toBe(200);
    const { data, errors = [] } = body as { data: { it: unknown }; errors?: { path?: unknown; extensions: object }[] };
    if (errors.length === 0) return data.it;
    expect([data, errors.map(({ path }) => path)]).toEqual([{ it: null }, [['it']]]);
    return errors[0]?.extensions;
  };

/** An id that the service could have issued, and has not. */
export const unknownId = (type: string) => globalId(type, randomUUID());

/** The types of a mutation's arguments, by the reviewed schema. */
async function typesOfArguments(field: string): Promise<ReadonlyMap<string, string>> {
  schema ??= readFile(schemaFile, 'utf8').then((text) => buildSchema(text));
  const args = (await schema).getMutationType()?.getFields()[field]?.args ?? [];
  return new Map(args.map(({ name, type }) => [name, String(type)]));
}

let schema: Promise<GraphQLSchema> | undefined;
