import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { createSecrets } from '../../src/crypto/secrets.ts';
import { withOwnerPool } from '../../src/database/pool/pools.ts';
import { createLog } from '../../src/log.ts';
import { applyDocument } from '../../src/provisioning/applyDocument.ts';
import { runAdmin } from '../admin/support.ts';
import { testPasswords } from '../support/passwords.ts';
import { startProcess } from '../support/process.ts';
import { isWhole } from '../support/search.ts';
import { startTestService } from '../support/service.ts';
import { type Answer, byPath, type Variables } from './answer.ts';

/** A service that is asked over connections that are kept. */
export type Service = {
  readonly url: string;
  ask(token: string, query: string, variables: Variables): Promise<Answer & { readonly text: string }>;
  post(path: string, body: string, headers: Record<string, string>): Promise<{ status: number; text: string }>;
  /** What was logged of failures: lines of level error and worse, and those of what an answer called `INTERNAL`. */
  failures(): string[];
  /** All that was logged. */
  log(): string;
  stop(): Promise<void>;
};

const secretKey = randomBytes(32).toString('base64');
const cheapPasswords = { ARGON2_MEMORY_KIB: '32', ARGON2_PASSES: '1' };

/**
 * In a process of its own; in `npm test` in this one, which has the service's modules already: a process takes three seconds to load them.
 *
 * @param root a copy of the repository; this one by default
 */
export async function startService(
  authUrl: string,
  environment: Record<string, string> = {},
  root?: string,
): Promise<Service> {
  const variables = {
    SECRET_KEY: secretKey,
    THROTTLE_REQUESTS_PER_MINUTE: '1000000',
    ...cheapPasswords,
    // A busy machine is not the subject.
    DATABASE_POOL_WAIT_MS: '60000',
    STATEMENT_TIMEOUT_MS: '60000',
    SLOW_MS: '600000',
    LOG_LEVEL: 'warn',
    WEBHOOK_WORKER: 'false',
    ...environment,
  };
  const { url, log, stop } = await (isWhole || root
    ? startAnother(authUrl, variables, root)
    : startHere(authUrl, variables));
  const agent = new Agent({ keepAlive: true });
  const post: Service['post'] = (path, body, headers) => send(agent, url + path, body, headers);

  return {
    url,
    post,
    async ask(token, query, variables) {
      const { status, text } = await post('/graphql', JSON.stringify({ query, variables }), {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/graphql-response+json',
      });
      return { ...parseAnswer(status, text), text };
    },
    log,
    failures: () =>
      log()
        .split('\n')
        .filter((line) => /"level":[56]0|"INTERNAL"/.test(line)),
    stop() {
      agent.destroy();
      return stop();
    },
  };
}

type Started = Pick<Service, 'url' | 'log' | 'stop'>;

async function startAnother(authUrl: string, variables: Record<string, string>, root?: string): Promise<Started> {
  const environment = { PATH: process.env.PATH ?? '', HOST: '127.0.0.1', PORT: '0', AUTH_DATABASE_URL: authUrl };
  const started = startProcess([], { ...environment, ...variables }, root);
  await started.says('Graph Query Service: http');
  return {
    url: /Graph Query Service: (http:\/\/\S+)/.exec(started.output.stdout + started.output.stderr)?.[1] ?? '',
    log: () => started.output.stderr,
    async stop() {
      started.signal('SIGTERM');
      await started.exited;
    },
  };
}

async function startHere(authUrl: string, variables: Record<string, string>): Promise<Started> {
  const { url, logs, stop } = await startTestService({ authUrl, ownerUrl: '' }, variables);
  // It logs at level trace, whatever the variables say.
  return { url, log: () => logs.filter((line) => /^\{"level":[456]0/.test(line)).join('\n'), stop };
}

/** The token endpoint's answer to a form. @throws when there is no token in it */
export async function issueToken(url: string, form: Record<string, string>): Promise<string> {
  const response = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  const text = await response.text();
  const { access_token: token } = JSON.parse(text) as { access_token?: string };
  if (!token) throw new Error(`There is no token for ${JSON.stringify(form)}: ${response.status} ${text}`);
  return token;
}

/** Provisions organizations as `admin apply` does, and in the whole search by it. */
export async function applyOrganizations(ownerUrl: string, organizations: readonly object[]): Promise<void> {
  if (!isWhole) {
    const secrets = createSecrets([Buffer.from(secretKey, 'base64')]);
    const options = { secrets, passwords: testPasswords, report: () => undefined };
    await withOwnerPool(ownerUrl, createLog('silent'), (owner) => applyDocument(owner, { organizations }, options));
    return;
  }
  const environment = { DATABASE_URL: ownerUrl, SECRET_KEY: secretKey, ...cheapPasswords };
  const { code, stderr } = await runAdmin(['apply', '-'], environment, JSON.stringify({ organizations }));
  if (code !== 0) throw new Error(`admin apply ended with ${code}: ${stderr.slice(0, 2000)}`);
}

function send(
  agent: Agent,
  url: string,
  body: string,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    });
    sent.once('error', reject);
    sent.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.end(body);
  });
}

type Body = { data?: unknown; errors?: { path?: (string | number)[]; extensions?: { code?: string } }[] };

function parseAnswer(status: number, text: string): Answer {
  const { data, errors = [] } = parseBody(text);
  const failures = errors.map(({ path, extensions }) => ({
    code: extensions?.code ?? 'none',
    path: path?.join('.') ?? null,
  }));
  return { status, data, errors: failures.sort(byPath) };
}

function parseBody(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return { errors: [{ extensions: { code: `no JSON: ${text.slice(0, 100)}` } }] };
  }
}
