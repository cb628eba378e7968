import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type OperationName, operations } from '../../operations.ts';
import { authenticate, settingsOf } from '../authenticate.ts';
import { bodyOf } from '../bodyOf.ts';
import { createPipelinedPool, queryPipelined } from '../queryPipelined.ts';
import { statements } from './statements.ts';

/**
 * The best that a hand-written endpoint could be: node:http, and one statement per operation that returns the answer's JSON. It knows just
 * the measured documents.
 */
export async function serveSql(authUrl: string): Promise<Server> {
  const pool = createPipelinedPool(authUrl, connections);
  const answer = async (request: IncomingMessage): Promise<string> => {
    const [claims, text] = await Promise.all([authenticate(pool, request), bodyOf(request)]);
    const { query, variables } = JSON.parse(text);
    const name = namesByDocument.get(query);
    if (!name) throw new Error('This document is not known.');
    const { sql, values } = statements[name];
    const [row] = await queryPipelined(pool, settingsOf(claims), { name, text: sql, values: values(variables) });
    return `{"data":${row?.data}}`;
  };

  return createServer((request, response) => {
    answer(request).then(
      (body) => {
        response.setHeader('Content-Type', 'application/graphql-response+json; charset=utf-8');
        response.setHeader('Content-Length', Buffer.byteLength(body));
        response.end(body);
      },
      (error: unknown) => {
        console.error(error);
        response.writeHead(500).end();
      },
    );
  });
}

/** While one is read from, PostgreSQL works on the next; more of them only wait for each other. */
const connections = 4;

const namesByDocument = new Map<string, OperationName>(
  Object.entries(operations).map(([name, { document }]) => [document, name as OperationName]),
);
