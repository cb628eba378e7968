import { ask } from '../../graphql/client.ts';
import { createTenant } from '../../graphql/support.ts';
import { startTestService, unthrottled } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { expectDone } from '../inProcess.ts';
import { createCells, move } from './cells.ts';

test("a request that is under way for a second is ended with 503, and another organization's is not", async () => {
  const cells = await createCells();
  const { here } = cells;
  const service = await startTestService(here, unthrottled);
  const [tenant, other] = [await createTenant({ database: here }), await createTenant({ database: here })];
  const name = `Organization ${tenant.organizationId}`;
  expectDone(await move(cells, [], name));
  // The feed does not move, so that the cut-over itself does not read it.
  const holder = await here.owner.connect();
  await holder.query('begin; lock table feed.changes in access exclusive mode');
  const query = '{ app { changes(first: 1) { nodes { id } } } }';
  const [own, others] = [ask(service, tenant.app, query), ask(service, other.app, query)];
  await until(async () => {
    const waiting = await here.owner.query(
      "select from pg_locks where relation = 'feed.changes'::regclass and not granted",
    );
    return waiting.rowCount === 2;
  });

  const { stoppedForMs } = expectDone(await move(cells, ['--cut-over'], name)) as { stoppedForMs: number };

  expect(stoppedForMs).toBeGreaterThan(900);
  const answer = await own;
  expect([answer.status, answer.body.errors?.map(({ extensions }) => extensions.code)]).toEqual([503, ['UNAVAILABLE']]);
  await holder.query('commit');
  holder.release();
  expect((await others).status).toBe(200);
  await service.stop();
  await cells.drop();
});
