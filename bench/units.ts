import { dirname, join } from 'node:path';
import { createToken, hashToken } from '../src/token/accessTokens.ts';
import type { Claims } from '../src/token/settings.ts';
import { type Built, buildUnits, type Grants } from './data/buildUnits.ts';
import { startCluster } from './data/startCluster.ts';
import { capture, type Statement, startCapture, stopCapture } from './support/capture.ts';
import { timeStatements } from './support/timeStatements.ts';

/**
 * `node bench/units.ts`: how long PostgreSQL takes for a page of units when there are 500,000. Each operation goes through
 * the real service once, over HTTP; what it sends to the database is then timed by PostgreSQL itself, under the same role
 * and claims. Exits with 1 when one takes 2 ms or more.
 */
const limitMs = 2;
const rounds = 300;

await using cluster = await startCluster();
const { postgres } = cluster;
// After startCluster has set what PostGraphile reads when it is imported.
const { encodeNodeId } = await import('../plugins/NodeIdPlugin.ts');
const owner = cluster.ownerPool();
try {
  const built = await buildUnits(owner, console.log);
  const operations = await captureAll(built);
  process.exitCode = (await timeAll(built, operations)) ? 0 : 1;
} finally {
  await owner.end();
}

type Operation = { name: string; who: Grants; query: string };

/** The statements that the service sends for each operation. */
async function captureAll(built: Built): Promise<(Operation & { statements: Statement[] })[]> {
  const { username } = new URL(postgres.authUrl);
  const logFile = join(dirname(postgres.cluster), 'postgres.log');
  await startCapture(owner, username);
  try {
    await using service = await cluster.startService();
    const captured = [];
    for (const operation of await operationsOn(built)) {
      const token = await issueToken(built, built.users[operation.who]);
      const statements = await capture(logFile, () => send(service.url, token, operation.query));
      if (statements.length === 0) throw new Error(`Nothing was captured of: ${operation.query}`);
      captured.push({ ...operation, statements });
    }
    return captured;
  } finally {
    await stopCapture(owner, username);
  }
}

/** @returns whether all are fast enough */
async function timeAll(built: Built, operations: (Operation & { statements: Statement[] })[]): Promise<boolean> {
  const authenticator = cluster.ownerPool(postgres.authUrl);
  let fast = true;
  for (const { name, who, statements } of operations) {
    const { execution, planning } = await timeStatements(
      authenticator,
      claimsOf(built, built.users[who]),
      statements,
      rounds,
    );
    fast &&= execution < limitMs;
    console.log(`${execution.toFixed(2)} ms, planning ${planning.toFixed(2)} ms: ${name}, ${who}`);
  }
  await authenticator.end();
  return fast;
}

/** Fails unless the service answers with a page, so that no error is timed. */
async function send(url: string, token: string, query: string): Promise<void> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: {} }),
  });
  const text = await response.text();
  if (!response.ok || !text.includes('"name":"Unit '))
    throw new Error(`The service answered ${response.status}: ${text}`);
}

function claimsOf({ organizationId, applicationId }: Built, userId: string): Claims {
  const times = { createdAt: new Date(), expiresAt: new Date() };
  return {
    organizationId,
    applicationId,
    clientId: 'bench',
    userId,
    grantId: organizationId,
    scopes: ['me'],
    ...times,
  };
}

async function issueToken({ organizationId, applicationId }: Built, userId: string): Promise<string> {
  const token = createToken('access');
  await owner.query(
    `with permitted as (
       insert into oauth.grants (organization_id, application_id, user_id, grant_type, scopes, client_authentication)
       values ($1, $2, $3, 'password', '{me}', 'none') returning organization_id, id
     )
     insert into oauth.access_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at)
     select organization_id, $4, id, '{me}', now(), now() + interval '1 hour' from permitted`,
    [organizationId, applicationId, userId, hashToken(token)],
  );
  return token;
}

async function operationsOn({ organizationId }: Built): Promise<Operation[]> {
  const idOf = async (externalIdentifier: string) => {
    const { rows } = await owner.query(
      'select id from app_public.units where organization_id = $1 and external_identifier = $2',
      [organizationId, externalIdentifier],
    );
    return encodeNodeId(['Unit', rows[0].id]);
  };
  const page = '{ viewer { accessibleUnits(first: 20) { nodes { id name } } } }';
  const unit = `{ node(id: "${await idOf('6-100000')}") { ... on Unit { id name } } }`;
  const children = `{ node(id: "${await idOf('1-7')}") { ... on Unit { children(first: 20) { nodes { id name } } } } }`;
  return [
    { name: 'a page of 20 accessible units', who: 'two deep grants', query: page },
    { name: 'a page of 20 accessible units', who: 'forty grants', query: page },
    { name: 'a page of 20 accessible units', who: 'every root', query: page },
    { name: 'one unit by id', who: 'every root', query: unit },
    { name: 'a page of 20 children', who: 'every root', query: children },
  ];
}
