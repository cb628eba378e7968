import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAuthzenEndpoints, evaluationPath } from '../../src/authzen/endpoint.ts';
import { loadConfig } from '../../src/config.ts';
import { createPool } from '../../src/database/pool/pools.ts';
import { createLog } from '../../src/log.ts';
import type { Permit } from '../../src/scheduling/admission.ts';
import { createWaitBudget, withCaller } from '../../src/scheduling/caller.ts';
import { createTokenVerifier } from '../../src/token/accessTokens.ts';
import { createTenant, type Tenant } from '../graphql/support.ts';
import { shareService } from '../support/sharedService.ts';
import { evaluate, question } from './support.ts';

/** The endpoint behind a listener whose admission says which flow it charges. */
describe('an evaluation', () => {
  const charged: string[] = [];
  let tenant: Tenant;
  let url: string;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    const graph = await shareService();
    tenant = await createTenant(graph);
    const [config, log] = [loadConfig({ DATABASE_POOL_SIZE: '1' }, 'serve'), createLog('warn')];
    const pool = createPool(graph.database.authUrl, config, log);
    const verifyToken = createTokenVerifier({ pool, oauthPool: pool });
    const endpoints = createAuthzenEndpoints({ config, log, pool, verifyToken, replica: null });
    const nothing = () => undefined;
    const permit: Permit = {
      ...{ pause: nothing, resume: nothing, end: nothing, resumeQueued: async () => undefined },
      moveTo: (path) => charged.push(path.join(' ')),
    };
    const server = createServer((request, response) => {
      const caller = { path: ['strangers', '192.0.2.1'], permit, waitBudget: createWaitBudget(2000) };
      const onIdentified = (organizationId: string) => charged.push(`remembered ${organizationId}`);
      withCaller({ ...caller, onIdentified }, () => endpoints[evaluationPath](request, response));
    }).listen(0, '127.0.0.1');
    url = await new Promise((resolve) =>
      server.once('listening', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
    );
    stop = async () => {
      server.closeAllConnections();
      server.close();
      await pool.end();
    };
  });
  beforeEach(() => {
    charged.length = 0;
  });
  afterAll(() => stop());

  it('is charged to the organization of its token from then on', async () => {
    const { organizationId, app } = tenant;

    expect((await evaluate({ url }, app, 'evaluation', question(['user', 'nobody'], 'nowhere'))).status).toBe(200);

    expect(charged).toEqual([organizationId, `remembered ${organizationId}`]);
  });

  it('stays with its address without a token that lives', async () => {
    expect((await evaluate({ url }, `${tenant.app.slice(0, -1)}x`, 'evaluation', {})).status).toBe(401);

    expect(charged).toEqual([]);
  });
});
