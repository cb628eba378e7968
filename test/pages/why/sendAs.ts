import { request } from 'node:http';

/** Sends a request with any headers. `fetch` allows no Host. The body is what a JSON answer has. */
export function sendAs<Body>(method: string, url: string, headers: Record<string, string | undefined>, sent = '') {
  return new Promise<{ status: number; text: string; body: Body }>((resolve, reject) => {
    request(url, { method, headers: JSON.parse(JSON.stringify(headers)) }, async (response) => {
      const text = (await response.setEncoding('utf8').toArray()).join('');
      const isJson = /json/.test(response.headers['content-type'] ?? '');
      resolve({ status: response.statusCode ?? 0, text, body: isJson ? JSON.parse(text) : null });
    })
      .on('error', reject)
      .end(sent);
  });
}
