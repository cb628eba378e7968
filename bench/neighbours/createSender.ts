import { Agent, request } from 'node:http';

export type Sent = { readonly path: string; readonly headers: Record<string, string>; readonly body: string };

/**
 * Sends on so many kept-alive connections, and reads answers without keeping them; `isUnread` leaves their bodies in the socket.
 * Resolves with the status, 0 without an answer.
 */
export function createSender(url: string, connections: number, isUnread = false) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const send = ({ path, headers, body }: Sent) =>
    new Promise<number>((resolve) => {
      const sent = request(`${url}${path}`, { agent, method: 'POST', headers }, (response) => {
        if (isUnread) return;
        response
          .resume()
          .on('end', () => resolve(response.statusCode ?? 0))
          .on('error', () => resolve(0));
      });
      sent.on('error', () => resolve(0)).end(body);
    });
  return { send, close: () => agent.destroy() };
}
