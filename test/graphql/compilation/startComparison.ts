import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import fc from 'fast-check';
import { Pool } from 'pg';
import { decodePosition } from '../../../plugins/changeFeed.ts';
import { loadConfig } from '../../../src/config.ts';
import { createSecrets, type Secrets } from '../../../src/crypto/secrets.ts';
import { createPool } from '../../../src/database/pool/pools.ts';
import { checkArguments } from '../../../src/graphql/document/arguments.ts';
import { createDocumentReader } from '../../../src/graphql/document/document.ts';
import { DocumentError } from '../../../src/graphql/document/documentError.ts';
import { createExecution } from '../../../src/graphql/execute.ts';
import { buildGraph, type Graph } from '../../../src/graphql/schema/schema.ts';
import { createLog } from '../../../src/log.ts';
import { noRequest } from '../../../src/observability/requestFields.ts';
import { liveToken } from '../../../src/token/accessTokens.ts';
import { preparesStatements } from '../../support/database.ts';
import { queries } from '../arbitrary/documents.ts';
import type { Document } from '../arbitrary/render.ts';
import { createValues } from '../arbitrary/values.ts';
import { type Caller, createOddRows } from './createOddRows.ts';

/** An operation, whose it is, and whether few rows are allowed. */
export type Asked = { readonly document: Document; readonly caller: Caller; readonly isFrugal: boolean };

export type Comparison = {
  /** Operations that are drawn from the schema. */
  readonly drawn: fc.Arbitrary<Asked>;
  /** The answers of both for all variables of a document, as text: status, data, errors, order of keys. */
  answers(asked: Asked): Promise<{ compiled: string; plain: string }>;
  /** Counts so far, which show that there was something to compare. */
  readonly seen: { compiled: number; notCompiled: number; failedRuns: number; reasons: Map<string, number> };
  stop(): Promise<void>;
};

/** The graph twice on the same rows, compiled and not. */
export async function startComparison(urls: {
  readonly ownerUrl: string;
  readonly authUrl: string;
}): Promise<Comparison> {
  const key = randomBytes(32);
  const owner = new Pool({ connectionString: urls.ownerUrl, max: 1 });
  const secrets = createSecrets([key]);
  const rows = await createOddRows(owner, secrets);
  await owner.end();

  const environment = {
    AUTH_DATABASE_URL: urls.authUrl,
    SECRET_KEY: key.toString('base64'),
    DATABASE_POOL_WAIT_MS: '60000',
    DATABASE_PREPARED_STATEMENTS: String(preparesStatements()),
  };
  const config = loadConfig(environment, 'serve');
  const frugal = { ...config, limits: { ...config.limits, rows: 40 } };
  const pool = createPool(urls.authUrl, config, createLog('silent'));
  const [plainGraph, compiledGraph] = [await buildGraph(pool), await buildGraph(pool, {})];
  const createSide = (graph: Graph) => {
    const lines: string[] = [];
    const log = createLog('error', { write: (line) => lines.push(line) });
    const read = createDocumentReader(graph.schema, config.limits);
    const [generous, sparing] = [config, frugal].map((config) =>
      createExecution({ config, pool, replicaPool: null, secrets, graph, log }),
    );
    if (!generous || !sparing) throw new Error('Both are there');

    return async ({ document, caller, isFrugal }: Asked): Promise<string> => {
      lines.length = 0;
      try {
        const prepared = read(document.query, null);
        const variables = JSON.parse(document.variables);
        const { cost, coerced, writtenRows } = checkArguments(graph.schema, prepared, variables, secrets);
        const signal = new AbortController().signal;
        const token = liveToken(rows.claims[caller]);
        const execute = isFrugal ? sparing : generous;
        const asked = {
          prepared,
          variables,
          coerced,
          token,
          requestId: noRequest,
          cost,
          writtenRows,
          replicaLsns: null,
          signal,
        };
        const { status, body } = await execute(asked);
        // The log has what the answer leaves out.
        return [status, withoutTime(body, secrets), ...lines.map(described)].join('\n');
      } catch (error) {
        if (error instanceof DocumentError) return JSON.stringify(error.errors);
        throw error;
      }
    };
  };
  const [plain, compiled] = [createSide(plainGraph), createSide(compiledGraph)];

  const seen = { compiled: 0, notCompiled: 0, failedRuns: 0, reasons: new Map<string, number>() };
  const count = (name: 'compiled' | 'notCompiled' | 'failedRuns') => (message: unknown) => {
    seen[name]++;
    const reason = String((message as { error?: Error }).error ?? '').replace(/\d+/g, 'N');
    if (reason) seen.reasons.set(reason, (seen.reasons.get(reason) ?? 0) + 1);
  };
  const listeners = {
    'grafast-compile:compiled': count('compiled'),
    'grafast-compile:not compiled': count('notCompiled'),
    'grafast-compile:failed run': count('failedRuns'),
  };
  for (const [channel, listener] of Object.entries(listeners)) subscribe(channel, listener);

  const cursors: string[] = [];
  for (const page of [
    'users(orderBy: FULL_NAME_DESC)',
    'users',
    'rootUnits',
    'rootUnits(orderBy: EXTERNAL_IDENTIFIER_ASC)',
  ]) {
    const document = { query: `{ app { ${page} { edges { cursor } } } }`, variables: '{}', otherVariables: [] };
    const answer = await plain({ document, caller: 'app', isFrugal: false });
    cursors.push(...Array.from(answer.matchAll(/"cursor":"([^"]+)"/g), ([, cursor = '']) => cursor));
  }

  const values = createValues({ ids: rows.ids, cursors, texts: { externalIdentifiers: rows.externalIdentifiers } });
  const documents = queries(compiledGraph.schema, values.fitting);
  return {
    drawn: fc
      .record({
        document: documents,
        anyone: fc.constantFrom(...callers),
        isSuited: fc.constantFrom(true, true, true, false),
        isFrugal: fc.constantFrom(false, false, true),
      })
      .map(({ document, anyone, isSuited, isFrugal }) => ({
        document,
        isFrugal,
        caller: isSuited ? suitedFor(document) : anyone,
      })),
    async answers(asked) {
      const { document } = asked;
      const all = [document.variables, ...document.otherVariables].map((variables) => ({
        ...asked,
        document: { ...document, variables },
      }));
      const answers = { plain: '', compiled: '' };
      for (const each of all) {
        answers.plain += `${each.document.variables} ${await plain(each)}\n`;
        answers.compiled += `${each.document.variables} ${await compiled(each)}\n`;
      }
      return answers;
    },
    seen,
    async stop() {
      for (const [channel, listener] of Object.entries(listeners)) unsubscribe(channel, listener);
      await plainGraph.release();
      await compiledGraph.release();
      await pool.end();
    },
  };
}

const callers = ['app', 'app and basic', 'person', 'stranger', 'basic'] as const;

const suitedFor = ({ query }: Document): Caller => (query.includes('viewer') ? 'person' : 'app');

/** The end of the change feed is where it is at the time of reading. */
const withoutTime = (body: string, secrets: Secrets) =>
  body.replace(/"([\w-]{40,250})"/g, (text, cursor) => {
    const position = decodePosition(cursor, secrets);
    return position ? JSON.stringify({ ...position, atMs: 0, horizon: '' }) : text;
  });

function described(line: string): string {
  const { msg, error } = JSON.parse(line);
  return `${msg}: ${error?.name} ${error?.message}`;
}
