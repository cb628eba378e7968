import { dirname, join } from 'node:path';
import { Pool } from 'pg';
import type { Claims } from '../../../src/token/settings.ts';
import { capture, startCapture, stopCapture } from '../../support/capture.ts';
import { timeStatements } from '../../support/timeStatements.ts';
import type { Tokens } from '../data/issueTokens.ts';
import { keyOf } from '../data/keys.ts';
import type { Data } from '../data/openData.ts';
import { type Size, unitsOf } from '../data/sizes.ts';
import { Connection } from '../load/Connection.ts';
import { toBytes } from '../load/toBytes.ts';
import { encodeNodeId } from '../nodeIds.ts';
import { startPeer } from '../servers/startPeer.ts';

/**
 * PostgreSQL's time, in milliseconds, for `node(id:)` of the last unit of an organization when the user was granted all of them. It
 * executes the service's own statement, as it was sent for a request.
 */
export async function timeUnitById({ ownerUrl, authUrl, cluster }: Data, size: Size, tokens: Tokens): Promise<number> {
  const owner = new Pool({ connectionString: ownerUrl });
  const authenticator = new Pool({ connectionString: authUrl });
  const { username } = new URL(authUrl);
  await startCapture(owner, username);
  const service = await startPeer('ours', authUrl);
  try {
    const connection = await Connection.open(service.port);
    const id = encodeNodeId('Unit', keyOf('unit', unitsOf(size) - 1));
    const body = JSON.stringify({ query: document, variables: { id } });
    const statements = await capture(join(dirname(cluster), 'postgres.log'), async () => {
      const answer = await connection.send(toBytes({ token: tokens.grantedEverything, body }));
      if (!answer.body.includes('"name":"Unit '))
        throw new Error(`The service answers ${answer.status}: ${answer.body}`);
    });
    connection.close();
    if (statements.length === 0) throw new Error('Nothing was captured.');
    return (await timeStatements(authenticator, claims, statements, rounds)).execution;
  } finally {
    await service.stop();
    await stopCapture(owner, username);
    await authenticator.end();
    await owner.end();
  }
}

const document = 'query Unit($id: ID!) { node(id: $id) { ... on Unit { id name } } }';
const rounds = 300;

const claims: Claims = {
  organizationId: keyOf('organization', 0),
  applicationId: keyOf('application', 0),
  clientId: 'bench-0',
  userId: keyOf('user', 0),
  grantId: keyOf('application', 0),
  scopes: ['me'],
  createdAt: new Date(),
  expiresAt: new Date(),
};
