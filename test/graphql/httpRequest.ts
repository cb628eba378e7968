import type { GraphTest } from './support.ts';

type Sent = {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  path?: string;
};

type HttpAnswer = {
  status: number;
  type: string | null;
  headers: Headers;
  body: { data?: unknown; errors?: { extensions: { code: string } }[] } | null;
};

export type Send = (sent: Sent) => Promise<HttpAnswer>;

/** Sends a request of HTTP with the token, to the endpoint unless it has another path. */
export const sending =
  ({ url }: Pick<GraphTest, 'url'>, token: string): Send =>
  async ({ method = 'POST', headers = {}, body, path = '/graphql' }) => {
    const response = await fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const { status } = response;
    const type = response.headers.get('Content-Type');
    return { status, type, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  };

export const codes = ({ body }: HttpAnswer) => body?.errors?.map(({ extensions }) => extensions.code);
