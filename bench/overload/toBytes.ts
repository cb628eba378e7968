/** An operation as it goes over the wire. */
export function toBytes(token: string, query: string): Buffer {
  const body = JSON.stringify({ query, variables: {} });
  const head = ['POST /graphql HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${token}`];
  const entity = ['Content-Type: application/json', `Content-Length: ${body.length}`];
  return Buffer.from(`${[...head, ...entity].join('\r\n')}\r\n\r\n${body}`);
}
