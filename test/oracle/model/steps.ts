import { encodeId } from '../ids.ts';
import { idOf } from './ids.ts';
import { rowsOf, type State, type TypeName } from './state.ts';

/** A request of a sequence, by names instead of ids, so that it can be sent to any world. */
export type Step = {
  readonly organization: 0 | 1;
  /** The application, its token for introspection alone, or one of two people. */
  readonly caller: 'app' | 'basic' | 'person 0' | 'person 1';
  /** The service that runs compiled operations, or the one without compilation. */
  readonly service: 0 | 1;
  readonly key?: string;
  /** Sent again as it is. */
  readonly isRepeated?: true;
  readonly fields: readonly StepField[];
};

export type StepField = {
  readonly alias?: string;
  readonly field: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Arguments in the document instead of variables. */
  readonly isInline?: true;
  readonly selection: string;
};

/** Stands for an id: that of the row with this number of its type, or of none. */
export type Reference = {
  readonly $id: TypeName | 'Webhook';
  readonly pick: number;
  readonly isOther?: true;
  /** The id says another type than that of the row. */
  readonly as?: string;
};

/** The arguments with ids in place of references. */
export function resolveReferences(
  value: unknown,
  state: State,
  organizationIds: readonly [string, string],
  own: 0 | 1,
): unknown {
  const resolve = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(resolve);
    if (typeof part !== 'object' || part === null) return part;
    if ('$id' in part) return idOfReference(part as Reference, state, organizationIds, own);
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, resolve(inner)]));
  };
  return resolve(value);
}

function idOfReference(
  { $id, pick, isOther, as }: Reference,
  state: State,
  ids: readonly [string, string],
  own: 0 | 1,
): string {
  const organizationId = ids[isOther ? 1 - own : own] as string;
  if ($id === 'Webhook') {
    const webhooks = state.webhooks.filter((webhook) => webhook.organizationId === organizationId);
    return encodeId('Webhook', webhooks[pick % webhooks.length]?.id ?? nobody);
  }
  const rows = rowsOf(state, $id, organizationId);
  const row = rows[pick % rows.length];
  if (!row) return encodeId($id === 'Card' ? 'NfcCard' : $id, nobody);
  return as && 'id' in row ? encodeId(as, row.id) : idOf($id, row);
}

const nobody = '00000000-0000-7000-8000-000000000000';
