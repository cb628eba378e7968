import type { Request } from '../operations.ts';

/** The request as it goes over the wire. */
export function toBytes({ token, body }: Request): Buffer {
  const head = [
    'POST /graphql HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    'Accept: application/graphql-response+json',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}
