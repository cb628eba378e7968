import type { RequestHandler } from 'express';
import { type GraphQLSchema, printSchema } from 'postgraphile/graphql';
import { compressed } from './compressed.ts';

/** `/graphql/schema.graphql`: the schema definition language, as text that a browser shows too. */
export function sendSchemaFile(schema: GraphQLSchema): RequestHandler {
  const send = compressed('txt', async () => Buffer.from(`${printSchema(schema)}\n`));
  return async (request, response) => {
    response.set('Cache-Control', 'no-cache');
    await send(request, response);
  };
}
