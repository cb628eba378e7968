import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client } from 'pg';
import { findEmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { createLog } from '../../src/log.ts';
import { type Block, blocksOf } from '../docs/pages.ts';
import { runPage, shows } from '../docs/runPage.ts';
import { commandPath } from '../support/commandPath.ts';
import { type Demo, getDemoToken, startTestDemo } from '../support/demo.ts';
import { freePort } from '../support/freePort.ts';
import { until } from '../support/until.ts';

/** As a reader of docs/webhooks.md follows it, with another port for the receiver. */
let demo: Demo;
let token: string;
let port: number;
let blocks: Block[];
beforeAll(async () => {
  demo = await startTestDemo({ WEBHOOK_PRIVATE_ADDRESSES: 'true' });
  token = await getDemoToken(demo);
  port = await freePort();
  const page = await blocksOf('docs/webhooks.md');
  blocks = page.map((block) => ({ ...block, text: block.text.replaceAll('4000', String(port)) }));
});
afterAll(() => demo.stop());

const blockOf = (language: string, at = 0): Block => {
  const block = blocks.filter((found) => found.language === language)[at];
  if (!block) throw new Error(`docs/webhooks.md has no block ${at} of ${language}.`);
  return block;
};

/** What a block of commands prints, which is what the page shows below it. */
async function paste(at: number, below = blockOf('json', at)): Promise<string> {
  const [printed] = await runPage([blockOf('sh', at)], demo, { PATH: commandPath, HOME: process.env.HOME ?? '' });
  const { output = '' } = printed ?? {};
  expect({ output, isShown: shows(below.text, output) }).toEqual({ output, isShown: true });
  return output;
}

/** Starts the page's receiver, which has this access token. */
async function startReceiver(secret: string, TOKEN: string) {
  const environment = { WEBHOOK_SECRET: secret, BASE_URL: demo.url, TOKEN };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', blockOf('js').text], { env: environment });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text;
    });
  // What nobody has signed.
  await until(async () => (await sendUnsigned()) === 401);
  return {
    output,
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

const sendUnsigned = () =>
  fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).then(
    ({ status }) => status,
    () => 0,
  );

type Delivery = { id: string; attempts: number; outcome: string; statusCode: number };

async function ask<T>(query: string): Promise<T> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${demo.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  const { data, errors } = (await response.json()) as { data: T; errors?: object[] };
  expect(errors).toBeUndefined();
  return data;
}

async function deliveries(): Promise<Delivery[]> {
  type Answer = { app: { webhooks: { nodes: { deliveries: { nodes: Delivery[] } }[] } } };
  const { app } = await ask<Answer>(
    '{ app { webhooks { nodes { deliveries { nodes { id attempts outcome statusCode } } } } } }',
  );
  return app.webhooks.nodes.flatMap((webhook) => webhook.deliveries.nodes);
}

/** The first retry is after some five seconds. */
async function makeDue(): Promise<void> {
  const { ownerUrl } = (await findEmbeddedPostgres(demo.dataDir, createLog('silent'))) ?? {};
  const owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
  await owner.query("update app_public.webhook_deliveries set next_attempt_at = now() where outcome = 'PENDING'");
  await owner.end();
}

test('the receiver of docs/webhooks.md verifies, is sent again what it could not process, and processes it once', async () => {
  const [secret = ''] = (await paste(0)).match(/whsec_[\w+/]+/) ?? [];
  // Its token has ended, so that it cannot read the person.
  const failing = await startReceiver(secret, 'gqs_at_ended');
  await paste(1);
  await until(async () => (await deliveries())[0]?.statusCode === 503);
  expect(failing.output.stdout).toBe('');
  expect(failing.output.stderr).toContain('the service answered 401\n');
  await failing.stop();

  const receiver = await startReceiver(secret, token);
  await makeDue();
  await until(async () => (await deliveries())[0]?.outcome === 'DELIVERED');

  expect(receiver.output.stdout).toBe(blockOf('text').text);
  const [delivered] = await deliveries();
  await ask(`mutation { webhookRedeliver(deliveryId: "${delivered?.id}") { webhookDelivery { outcome } } }`);
  await until(async () => {
    const [again] = await deliveries();
    return again?.outcome === 'DELIVERED' && again.attempts !== delivered?.attempts;
  });
  expect(receiver.output.stdout).toBe(blockOf('text').text);
  expect(await ask(blockOf('graphql').text)).toEqual({ app: { webhooks: { nodes: [{ deliveries: { nodes: [] } }] } } });

  await paste(2, blockOf('text', 1));
  expect(receiver.output.stdout).toBe(blockOf('text').text);
  await receiver.stop();
});
