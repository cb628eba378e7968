import { connect } from 'node:net';
import type { GraphTest } from './support.ts';

export type SendRaw = (
  method: string,
  target: string,
  headers: Record<string, string>,
  body?: string | Uint8Array,
) => Promise<{ status: number; headers: string; text: string }>;

/** Sends a request as it goes over the line, with the token unless the headers have another; ends when the service closes. */
export const sendingRaw =
  ({ url }: Pick<GraphTest, 'url'>, token: string): SendRaw =>
  async (method, target, headers, body = '') => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const all = { Host: 'localhost', Connection: 'close', Authorization: `Bearer ${token}`, ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
    socket.write(body);
    const received = Buffer.concat(await socket.toArray()).toString();
    const [head = '', ...rest] = received.split('\r\n\r\n');
    return { status: Number(head.split(' ')[1]), headers: head, text: rest.join('\r\n\r\n') };
  };

export type Post = (body: string | Uint8Array, headers?: Record<string, string>) => ReturnType<SendRaw>;

/** Sends a body to the endpoint of GraphQL. */
export const posting =
  (sendRaw: SendRaw): Post =>
  (body, headers = {}) =>
    sendRaw('POST', '/graphql', { ...json, 'Content-Length': String(Buffer.byteLength(body)), ...headers }, body);

export const json = { 'Content-Type': 'application/json' };
export const codeIn = (text: string) => /"code":"(\w+)"/.exec(text)?.[1];

/** A query, and its answer. */
export const typename = '{"query":"{ __typename }"}';
export const answered = { status: 200, text: '{"data":{"__typename":"Query"}}' };
