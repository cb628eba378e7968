import { randomUUID } from 'node:crypto';
import { askUntilServed, type GraphTest, globalId, type Tenant } from './support.ts';

/** Returns the data of the mutation's field, or the extensions of its only error. */
export type Mutate = (field: string, args: object, selection: string, token?: string) => Promise<unknown>;

/** Sends one mutation with its arguments in the document, where null and absent differ as in variables. */
export const mutating =
  (graph: GraphTest, tenant: Tenant): Mutate =>
  async (field, args, selection, token = tenant.app) => {
    const given = Object.entries(args).map(([name, value]) => {
      const json = JSON.stringify(value);
      // An enum's values.
      return `${name}: ${name === 'typeNames' ? json.replaceAll('"', '') : json}`;
    });
    const query = `mutation { it: ${field}${given.length > 0 ? `(${given.join(', ')})` : ''} { ${selection} } }`;
    const { status, body } = await askUntilServed(graph, token, query);
    expect(status).toBe(200);
    const { data, errors = [] } = body as { data: { it: unknown }; errors?: { path?: unknown; extensions: object }[] };
    if (errors.length === 0) return data.it;
    expect([data, errors.map(({ path }) => path)]).toEqual([{ it: null }, [['it']]]);
    return errors[0]?.extensions;
  };

/** An id that the service could have issued, and has not. */
export const unknownId = (type: string) => globalId(type, randomUUID());
