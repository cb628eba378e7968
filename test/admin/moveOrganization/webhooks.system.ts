import { mutating } from '../../graphql/mutating.ts';
import { createTenant, createUser, globalId } from '../../graphql/support.ts';
import { startTestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { startReceiver, verified } from '../../webhooks/receiver.ts';
import { startTestWorker } from '../../webhooks/worker.ts';
import { expectDone } from '../inProcess.ts';
import { createCells, move, reasonOf } from './cells.ts';

test('the old cell sends what was changed before the cut-over, the new one what is changed afterwards, each once', async () => {
  const cells = await createCells();
  const { here, there } = cells;
  const tenant = await createTenant({ database: here });
  const name = `Organization ${tenant.organizationId}`;
  const service = await startTestService(here, { WEBHOOK_PRIVATE_ADDRESSES: 'true' });
  const receiver = await startReceiver();
  const { secret } = (await mutating({ ...service, database: here } as never, tenant)(
    'webhookCreate',
    { url: receiver.url },
    'secret',
  )) as { secret: string };
  await service.stop();
  const before = [await createUser(tenant)];
  expectDone(await move(cells, [], name));
  // There is a webhook there, and it sends nothing.
  const newWorker = await startTestWorker(there);
  before.push(await createUser(tenant));
  expectDone(await move(cells, ['--cut-over'], name));

  const after = [
    await createUser({ ...tenant, owner: there.owner }),
    await createUser({ ...tenant, owner: there.owner }),
  ];
  await until(() => receiver.received.length === 2);
  expect(reasonOf(await move(cells, ['--drop'], name))).toMatch(/Webhooks wait to be sent from here/);
  const oldWorker = await startTestWorker(here);
  await until(() => receiver.received.length === 4);
  await until(async () => (await move(cells, ['--drop'], name)).code === 0);

  after.push(await createUser({ ...tenant, owner: there.owner }));
  await until(() => receiver.received.length === 5);
  const ids = receiver.received.map((received) => verified(secret, received).data.id);
  expect(ids.toSorted()).toEqual([...before, ...after].map(({ uuid }) => globalId('User', uuid)).toSorted());

  await oldWorker.stop();
  await newWorker.stop();
  await receiver.stop();
  await cells.drop();
});
