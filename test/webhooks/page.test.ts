import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { blocksOf } from '../docs/pages.ts';
import { mutating } from '../graphql/mutating.ts';
import { createTenant, createUser, read, startGraphTest } from '../graphql/support.ts';
import { freePort } from '../support/freePort.ts';
import { until } from '../support/until.ts';
import { startTestWorker } from './worker.ts';

test('the receiver of docs/webhooks.md takes what is signed by its secret and nothing else', async () => {
  const graph = await startGraphTest({ WEBHOOK_PRIVATE_ADDRESSES: 'true' });
  const worker = await startTestWorker(graph.database);
  const tenant = await createTenant(graph);
  const port = await freePort();
  const blocks = await blocksOf('docs/webhooks.md');
  const url = `http://127.0.0.1:${port}/`;
  const { secret } = (await mutating(graph, tenant)('webhookCreate', { url }, 'secret')) as { secret: string };
  const code = blocks.find(({ language }) => language === 'js')?.text.replace('4000', String(port)) ?? '';
  const receiver = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    env: { WEBHOOK_SECRET: secret },
  });
  let output = '';
  receiver.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  try {
    const status = () =>
      fetch(url, { method: 'POST', body: '{}' }).then(
        ({ status }) => status,
        () => 0,
      );
    await until(async () => (await status()) === 401);

    const user = await createUser(tenant);

    await until(() => output.includes('\n'));
    expect(output).toBe(`user.created ${user.id}\n`);
    const letters = blocks.find(({ language }) => language === 'graphql')?.text ?? '';
    expect(await read(graph, tenant.app, letters)).toEqual({
      app: { webhooks: { nodes: [{ deliveries: { nodes: [] } }] } },
    });
  } finally {
    receiver.kill();
    await once(receiver, 'exit');
    await worker.stop();
    await graph.stop();
  }
});
