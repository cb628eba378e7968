import type { Pool } from 'pg';
import { decodeNodeId } from '../../plugins/NodeIdPlugin.ts';
import { isUuid } from '../../plugins/values.ts';
import { isStalePlan } from '../database/driver/driver.ts';
import { isMigratedMeanwhile } from '../database/pool/unavailable.ts';
import type { RequestFields, RequestId } from '../observability/requestFields.ts';
import { isRetryableOnPrimary, type ReplicaQueries, requireReplayed } from '../replica/watchReplica.ts';
import type { AccessToken } from '../token/accessTokens.ts';
import { graphSettings } from '../token/settings.ts';
import { queryOnce } from '../token/transaction.ts';
import type { Entity, Evaluation } from './readEvaluations.ts';

/** A decision (AuthZEN section 5.5). */
export type Decision = { readonly decision: boolean; readonly context: { readonly reason: string } };

export type DeciderOptions = {
  readonly pool: Pool;
  /** Null when the primary answers every request. */
  readonly replica: ReplicaQueries | null;
};

export type DecisionRequest = {
  readonly token: AccessToken;
  readonly requestId: RequestId;
  readonly signal: AbortSignal;
  readonly fields: RequestFields;
};

/**
 * Decides evaluations, all by one statement: the same function of SQL that `accessDecision` asks, under the policies of the token.
 * It runs on a replica where read-your-writes allows it, else on the primary. The service denies unknown actions and types without asking.
 */
export function createDecider({ pool, replica }: DeciderOptions) {
  const ask = async (evaluations: readonly Evaluation[], { token, requestId, signal, fields }: DecisionRequest) => {
    const settings = graphSettings(token.claims, requestId, evaluations.length);
    const statement = { name: 'decide_access', text: statementText, values: valuesOf(evaluations) };
    fields.statements = 1;
    const lsns = replica?.requiredLsns(token, requestId) ?? null;
    if (replica && lsns) {
      try {
        const { rows } = await queryOnce<Row>(replica.pool, settings, statement, requireReplayed(lsns), signal);
        fields.server = 'replica';
        return rows;
      } catch (error) {
        if (signal.aborted || !isRetryableOnPrimary(error)) throw error;
      }
    }
    if (replica) fields.server = 'primary';
    const { rows } = await token.withTokenCheck((check) => queryOnce<Row>(pool, settings, statement, check, signal));
    return rows;
  };

  /** The decisions, in the order of the evaluations. */
  return async (evaluations: readonly Evaluation[], request: DecisionRequest): Promise<Decision[]> => {
    const supported = evaluations.filter(isSupported);
    const rows = supported.length > 0 ? await retryIfMigrated(() => ask(supported, request)) : [];
    const decided = rows.map(({ isAllowed, reason }) => ({ decision: isAllowed, context: { reason } }));
    return evaluations.map((one) => (isSupported(one) && decided.shift()) || unsupported);
  };
}

/** A migration may change a type of the statement while it is asked. Nothing was done, and prepared anew it fits. */
async function retryIfMigrated<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isStalePlan(error) && !isMigratedMeanwhile(error)) throw error;
    return ask();
  }
}

type Row = { readonly isAllowed: boolean; readonly reason: string };

const unsupported: Decision = { decision: false, context: { reason: 'UNSUPPORTED' } };

/** The types of the graph whose ids name an entity of such a type. */
const typesOf: Readonly<Record<string, readonly string[]>> = {
  unit: ['Unit'],
  user: ['User'],
  card: ['BeaconCard', 'NfcCard', 'IdentificationCode'],
};

const isSupported = ({ subject, action, resource }: Evaluation) =>
  action === 'enter' && resource.type === 'unit' && (subject.type === 'user' || subject.type === 'card');

/**
 * An id may be an external identifier or an id of the graph.
 * Both are sent, and the function in SQL prefers the former.
 */
const statementText = `
  select d.is_allowed as "isAllowed", d.reason::text as reason
  from app_hidden.decide_access(array(
    select row (a.unit_id, a.unit_name, a.user_id, a.user_name, a.card_id, a.card_name, null, null, a.at)::app_hidden.access_question
    from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::uuid[], $6::text[], $7::timestamptz[])
      with ordinality as a (unit_id, unit_name, user_id, user_name, card_id, card_name, at, nth)
    order by a.nth)) as d`;

function valuesOf(evaluations: readonly Evaluation[]) {
  const idsAndNames = (type: string, entityOf: (evaluation: Evaluation) => Entity) => {
    const entities = evaluations.map(entityOf).map((entity) => (entity.type === type ? entity.id : null));
    return [entities.map((id) => keyOf(type, id)), entities];
  };
  return [
    ...idsAndNames('unit', ({ resource }) => resource),
    ...idsAndNames('user', ({ subject }) => subject),
    ...idsAndNames('card', ({ subject }) => subject),
    evaluations.map(({ at }) => at),
  ];
}

function keyOf(type: string, id: string | null): string | null {
  const [name = '', key, ...more] = decodeNodeId(id) ?? [];
  return typesOf[type]?.includes(name) && typeof key === 'string' && isUuid(key) && more.length === 0 ? key : null;
}
