import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { authenticate, settingsOf } from '../peers/servers/authenticate.ts';
import { bodyOf } from '../peers/servers/bodyOf.ts';
import { createPipelinedPool, queryPipelined } from '../peers/servers/queryPipelined.ts';
import { statements } from './statements.ts';

/**
 * A hand-written endpoint that writes: node:http and the {@link statements} of an operation.
 * It stands behind the same token check, role and policies, and has a transaction for each statement, as the service has for each field.
 */
export async function serveSql(authUrl: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const pool = createPipelinedPool(authUrl, 4);
  const answer = async (request: IncomingMessage): Promise<string> => {
    const [claims, body] = await Promise.all([authenticate(pool, request), bodyOf(request)]);
    const { operationName, variables } = JSON.parse(body);
    const data: unknown[] = [];
    for (const [index, { text, values }] of statements[operationName as keyof typeof statements].entries()) {
      const statement = { name: `${operationName} ${index}`, text, values: values(variables) };
      data.push(...(await queryPipelined(pool, settingsOf(claims), statement)).map((row) => row.data));
    }
    return `{"data":{${data.join(',')}}}`;
  };
  const server = createServer((request, response) => {
    answer(request).then(
      (body) => response.setHeader('Content-Type', 'application/json').end(body),
      (error: unknown) => {
        console.error(error);
        response.writeHead(500).end();
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await pool.end();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}
