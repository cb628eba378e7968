import {
  type DocumentNode,
  type FieldNode,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  getDirectiveValues,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
} from 'postgraphile/graphql';
import type { RequestId } from '../observability/requestFields.ts';
import type { RequiredLsns } from '../replica/watchReplica.ts';
import type { AccessToken } from '../token/accessTokens.ts';
import type { QueryCost } from './document/arguments.ts';
import type { PreparedDocument } from './document/document.ts';
import { planningMs } from './document/measureOperations.ts';
import type { IdempotencyKey } from './request.ts';

/** A validated operation: document, variables and arguments. */
export type Operation = {
  readonly prepared: PreparedDocument;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The variables in the types that the operation declares, with its defaults. */
  readonly coerced: Readonly<Record<string, unknown>>;
  /** Null under public introspection only. */
  readonly token: AccessToken | null;
  readonly requestId: RequestId;
  /** Query cost, if every page is full. */
  readonly cost: QueryCost;
  /** How many rows its mutations get in lists. */
  readonly writtenRows: number;
  /** Minimum LSNs of a replica that may answer; null when only the primary may. */
  readonly replicaLsns: RequiredLsns | null;
  /** The key of a mutation that is executed once, however often it is sent. */
  readonly idempotencyKey?: IdempotencyKey | null;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
};

export const isQueryOf = ({ operation }: PreparedDocument) => operation.operation === 'query';

/**
 * Planning takes longer with more objects, the answer with more rows and values, a sync with more rows.
 *
 * @param maxPlanningMs a neighbour's request waits as long for one plan at each of its steps, of which there are three
 */
export function isExpensive({ prepared, cost, writtenRows }: Operation, maxPlanningMs = 20): boolean {
  const { size } = prepared;
  if (size.fields > 200 || planningMs(size, !isQueryOf(prepared)) > maxPlanningMs) return true;
  return cost.rows > 3000 || cost.values > 5000 || writtenRows > maxWrittenRows;
}

/** Sealing and answering 1,000 rows of a sync takes tens of milliseconds. */
const maxWrittenRows = 100;

/** A field of a mutation as an operation of its own, and the key of its answer. */
type MutationField = { readonly key: string; readonly requested: Operation };

/**
 * The fields of a mutation in their order, each as an operation of its own.
 * So each is executed, and committed or not, by itself: serial execution (GraphQL, section 6.2.2).
 */
export function fieldsOf(requested: Operation): readonly MutationField[] {
  const { prepared, coerced } = requested;
  const { selections } = prepared.operation.selectionSet;
  const byKey = collectFields(selections, prepared, coerced);
  // Most mutations have one field, which is the whole operation.
  const isAlone = selections.length === 1 && byKey.size === 1;
  return Array.from(byKey, ([key, nodes]) => ({
    key,
    requested: isAlone ? requested : { ...requested, prepared: { ...prepared, ...withFields(prepared, nodes) } },
  }));
}

type Requested = Pick<PreparedDocument, 'document' | 'operation'>;

/** An operation with only these fields; the same object for the same fields, by which plans are found. */
function withFields({ document, operation }: Requested, nodes: readonly FieldNode[]): Requested {
  const [first] = nodes;
  const known = (first && operations.get(first)) ?? [];
  const same = known.find(
    ({ fields }) => fields.length === nodes.length && fields.every((each, at) => each === nodes[at]),
  );
  if (same) return same;
  const single: OperationDefinitionNode = {
    ...operation,
    selectionSet: { ...operation.selectionSet, selections: nodes },
  };
  const definitions = document.definitions.map((each) => (each === operation ? single : each));
  const made = { fields: nodes, operation: single, document: { ...document, definitions } };
  if (first) operations.set(first, [...known, made]);
  return made;
}

/** By their first field. Conditions decide which other fields the operation has. */
const operations = new WeakMap<FieldNode, readonly Known[]>();

type Known = {
  readonly fields: readonly FieldNode[];
  readonly operation: OperationDefinitionNode;
  readonly document: DocumentNode;
};

/** CollectFields (GraphQL, section 6.3.2), for a type that is no interface. */
function collectFields(
  selections: readonly SelectionNode[],
  { fragments }: Pick<PreparedDocument, 'fragments'>,
  variables: Operation['coerced'],
  byKey = new Map<string, FieldNode[]>(),
  visited = new Set<string>(),
): ReadonlyMap<string, readonly FieldNode[]> {
  for (const selection of selections) {
    if (!isIncluded(selection, variables)) continue;
    if (selection.kind === Kind.FIELD) {
      const key = (selection.alias ?? selection.name).value;
      byKey.set(key, [...(byKey.get(key) ?? []), selection]);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      collectFields(selection.selectionSet.selections, { fragments }, variables, byKey, visited);
    } else if (!visited.has(selection.name.value)) {
      visited.add(selection.name.value);
      const spread = fragments.get(selection.name.value)?.selectionSet.selections ?? [];
      collectFields(spread, { fragments }, variables, byKey, visited);
    }
  }
  return byKey;
}

function isIncluded(selection: SelectionNode, variables: Operation['coerced']): boolean {
  if (!selection.directives?.length) return true;
  if (getDirectiveValues(GraphQLSkipDirective, selection, variables)?.if === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.if !== false;
}
