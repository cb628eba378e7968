import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { authenticate, settingsOf } from '../peers/servers/authenticate.ts';
import { bodyOf } from '../peers/servers/bodyOf.ts';
import { createPipelinedPool, queryPipelined } from '../peers/servers/queryPipelined.ts';

/**
 * A hand-written endpoint that writes users: node:http, and one `insert … on conflict` for all of them.
 * It stands behind the same token, role and policies, and judges no row: one that is wrong refuses all.
 */
export async function serveUpserts(authUrl: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const pool = createPipelinedPool(authUrl, 2);
  const answer = async (request: IncomingMessage): Promise<string> => {
    const [claims, text] = await Promise.all([authenticate(pool, request), bodyOf(request)]);
    const { variables } = JSON.parse(text);
    const statement = { name: 'upsert', text: upsert, values: [JSON.stringify(variables.users)] };
    const [row] = await queryPipelined(pool, settingsOf(claims), statement);
    return `{"data":${row?.data}}`;
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

const upsert = `
  with written as (
    insert into app_public.users (organization_id, external_identifier, full_name, email, locale, time_zone)
    select app_hidden.current_organization_id(), given.*
    from jsonb_to_recordset($1) as given (
      "externalIdentifier" text, "fullName" text, email text, locale text, "timeZone" text)
    on conflict (organization_id, external_identifier) do update set
      full_name = excluded.full_name, email = excluded.email, locale = excluded.locale, time_zone = excluded.time_zone
    returning external_identifier
  )
  select json_build_object('results', json_agg(json_build_object('externalIdentifier', external_identifier)))::text as data
  from written`;
