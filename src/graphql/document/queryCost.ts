import {
  type FieldNode,
  type GraphQLError,
  type GraphQLNamedType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'postgraphile/graphql';
import { readerOf } from '../../../plugins/functions/functionArguments.ts';
import type { NodeKeys } from '../../../plugins/NodeIdPlugin.ts';
import { type CursorChecks, type Field, pageSizeOf, problemsOf, type Values } from './argumentProblems.ts';
import type { PreparedDocument } from './document.ts';
import { fieldOf, isConnectionType } from './measureOperations.ts';

/**
 * Query cost: the rows and leaf values that an answer can have.
 * A field with its own statement counts as many values as take that long.
 */
export type QueryCost = {
  readonly rows: number;
  readonly values: number;
  /** The values of a connection that are not in its rows. */
  readonly once: number;
};

/**
 * Query cost analysis: the upper bound of the answer's size, if every page is full.
 * Lists that are no connections count once. It reads each argument only once, and so finds what is wrong with it on the way.
 */
export class CostAnalysis {
  readonly problems: GraphQLError[] = [];
  /** How many rows the mutations get in lists. */
  writtenRows = 0;

  readonly #schema: GraphQLSchema;
  readonly #prepared: PreparedDocument;
  readonly #coerced: Values;
  readonly #nodeKeys: NodeKeys;
  readonly #cursorKeys: CursorChecks;
  readonly #costOfFragment = new Map<string, QueryCost>();

  constructor(schema: GraphQLSchema, prepared: PreparedDocument, coerced: Values, cursorKeys: CursorChecks) {
    this.#schema = schema;
    this.#prepared = prepared;
    this.#coerced = coerced;
    this.#cursorKeys = cursorKeys;
    this.#nodeKeys = schema.extensions.nodeKeys as NodeKeys;
  }

  costOfOperation(): QueryCost {
    const { operation } = this.#prepared;
    return this.#costOf(operation.selectionSet, this.#schema.getRootType(operation.operation) ?? undefined);
  }

  #costOf({ selections }: SelectionSetNode, type: GraphQLNamedType | undefined): QueryCost {
    let rows = 0;
    let values = 0;
    let once = 0;
    for (const node of selections) {
      const cost = this.#costOfSelection(node, type);
      rows += cost.rows;
      values += cost.values;
      once += cost.once;
    }
    return { rows, values, once };
  }

  #costOfSelection(node: SelectionNode, type: GraphQLNamedType | undefined): QueryCost {
    if (node.kind === Kind.FIELD) return this.#costOfField(node, type);
    if (node.kind === Kind.FRAGMENT_SPREAD) return this.#costOfSpread(node.name.value);
    const { typeCondition, selectionSet } = node;
    return this.#costOf(selectionSet, typeCondition ? this.#schema.getType(typeCondition.name.value) : type);
  }

  #costOfSpread(name: string): QueryCost {
    const known = this.#costOfFragment.get(name);
    if (known) return known;
    const fragment = this.#prepared.fragments.get(name);
    const cost = fragment
      ? this.#costOf(fragment.selectionSet, this.#schema.getType(fragment.typeCondition.name.value))
      : oneValue;
    this.#costOfFragment.set(name, cost);
    return cost;
  }

  #costOfField(node: FieldNode, type: GraphQLNamedType | undefined): QueryCost {
    const schema = this.#schema;
    const field = fieldOf(type, node.name.value);
    if (!field) return oneValue;
    const inner = node.selectionSet ? this.#costOf(node.selectionSet, getNamedType(field.type)) : oneValue;
    if (isConnectionType(type)) return isPerRow(field) ? inner : onceOf(field, inner);
    if (field.name === 'node' && type === schema.getQueryType())
      return { ...inner, values: inner.values + valuesOfStatement };
    if (isAnyObject(field)) return { ...inner, values: inner.values + valuesOfObject };
    if (field.args.length === 0) return inner;
    // A bad argument of a mutation fails only its field.
    if (type === schema.getMutationType()) {
      const rows = takesRows(field) ? rowsIn(getArgumentValues(field, node, this.#coerced)) : 0;
      this.writtenRows += rows;
      return { ...inner, rows: Math.max(1, rows) * inner.rows };
    }
    const isPaged = hasPages(field);
    if (!isPaged && !isFunction(field) && type !== schema.getSubscriptionType()) return inner;

    const values = getArgumentValues(field, node, this.#coerced);
    this.problems.push(...problemsOf({ field, nodeKeys: this.#nodeKeys, cursorKeys: this.#cursorKeys }, node, values));
    if (!isPaged) return inner;
    const size = pageSizeOf(values);
    return { rows: size * (1 + inner.rows), values: size * inner.values + inner.once, once: 0 };
  }
}

const oneValue: QueryCost = { rows: 0, values: 1, once: 0 };

/** The cost of a field that reads every row, as a count does, or has its own statement, as `node` does. */
const valuesOfStatement = 1000;

/** An object of any type, as of a change of the feed, which is read by its type: 1,000 of them took 20 ms of the thread. */
const valuesOfObject = 5;
const isAnyObject = (field: Field) => getNamedType(field.type).name === 'Node';

const onceOf = ({ name }: Field, { values }: QueryCost): QueryCost => ({
  rows: 0,
  values: 0,
  once: values + (name === 'totalCount' ? valuesOfStatement : 0),
});

const isPerRow = ({ name }: Field) => name === 'nodes' || name === 'edges';

const hasPages = (field: Field) => field.args.some((argument) => argument.name === 'first' && !readerOf(argument));
const isFunction = (field: Field) => field.args.some(readerOf);
/** Whether its lists are rows: it takes objects, or answers with a list of results. */
const takesRows = ({ args, type }: Field) => {
  const payload = getNamedType(type);
  const results = isObjectType(payload) ? Object.values(payload.getFields()) : [];
  return (
    args.some((argument) => isInputObjectType(getNamedType(argument.type))) ||
    results.some((result) => isListType(getNullableType(result.type)))
  );
};
const rowsIn = (values: Values) =>
  Math.max(0, ...Object.values(values).map((value) => (Array.isArray(value) ? value.length : 0)));
