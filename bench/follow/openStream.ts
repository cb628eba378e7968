import { type ClientRequest, request } from 'node:http';

/** A stream of changes; `onData` gets what comes, as it comes. */
export function openStream(url: string, token: string, onData: (text: string) => void): Promise<ClientRequest> {
  const { promise, resolve, reject } = Promise.withResolvers<ClientRequest>();
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Accept: 'text/event-stream',
  };
  const opened = request(`${url}/graphql`, { method: 'POST', headers }, (response) => {
    response.setEncoding('utf8').on('data', onData);
    if (response.statusCode === 200) resolve(opened);
    else reject(new Error(`The stream was refused: ${response.statusCode}`));
  });
  opened.on('error', reject);
  opened.end(JSON.stringify({ query: 'subscription { changes { id operation typeName } }' }));
  return promise;
}
