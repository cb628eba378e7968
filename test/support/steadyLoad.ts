import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export type SteadyLoad = {
  /** How many requests have had their answer. */
  readonly answered: number;
  /** The failures of the other requests, and statuses other than 200. */
  readonly failures: readonly string[];
  /** Resolves when no request is under way any more. */
  stop(): Promise<void>;
};

export type LoadSettings = {
  /** Takes the next address when one asks to connect anew or no longer accepts connections, as a balancer does. */
  readonly urls: readonly string[];
  readonly token: string;
  /** The host name that is asked for, where a proxy decides by it. */
  readonly host?: string;
  readonly connections: number;
  /** How long a connection idles between an answer and the next request; not at all unless said. */
  readonly pauseMs?: number;
  /** The document of the next request; a query unless said. */
  readonly nextDocument?: () => string;
};

/** Sends queries on kept-alive connections, one after the other on each. It is a failure if an open connection cannot send or read. */
export function startSteadyLoad({
  urls,
  token,
  connections,
  pauseMs,
  host,
  nextDocument = () => '{ app { name users(first: 5) { nodes { id fullName } } } }',
}: LoadSettings): SteadyLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const failures: string[] = [];
  let answered = 0;
  let place = 0;
  let stopping = false;

  const sendOnce = async (): Promise<void> => {
    const asked = place;
    const url = urls[asked % urls.length] ?? '';
    const moveOn = () => {
      if (place === asked) place++;
    };
    const sent = request(`${url}/graphql`, {
      agent,
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...(host && { Host: host }) },
    });
    sent.end(JSON.stringify({ query: nextDocument() }));
    try {
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const body = (await response.toArray()).join('');
      if (response.statusCode === 200) answered++;
      else failures.push(`${response.statusCode} ${body}`);
      if (urls.length > 1 && response.headers.connection === 'close') moveOn();
    } catch (error) {
      // No server was there that could have failed: that is for the load balancer to notice.
      if (urls.length > 1 && Error.isError(error) && 'code' in error && error.code === 'ECONNREFUSED') moveOn();
      else failures.push(String(error));
    }
  };
  const sender = async () => {
    while (!stopping) {
      await sendOnce();
      if (pauseMs !== undefined) await delay(pauseMs);
    }
  };
  const sending = Promise.all(Array.from({ length: connections }, sender));

  return {
    get answered() {
      return answered;
    },
    failures,
    async stop() {
      stopping = true;
      await sending;
      agent.destroy();
    },
  };
}
