/** Sends JSON and reads the answer's; resolves with it and the milliseconds that both took. */
export type Send = (body: object) => Promise<{ answer: string; ms: number }>;

export function sendWithToken(url: string, token: string): Send {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return async (body) => {
    const text = JSON.stringify(body);
    const start = performance.now();
    const response = await fetch(url, { method: 'POST', headers, body: text });
    const answer = await response.text();
    return { answer, ms: performance.now() - start };
  };
}
