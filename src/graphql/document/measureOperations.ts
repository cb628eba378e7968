import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'postgraphile/graphql';
import { withPlanCache } from '../../../plugins/internals.ts';
import type { Config } from '../../config.ts';
import { limitExceeded } from './documentError.ts';

/** The size of an operation with its fragments expanded; the names are values of `extensions.limit`. */
export type Size = Readonly<Record<(typeof measured)[number], number>> & {
  /** The fields with a selection of their own, which no limit has. */
  readonly objects: number;
  /** For each of these whose type is abstract, the possible types: a plan has a branch for each. */
  readonly branches: number;
};

const measured = ['depth', 'aliases', 'rootFields', 'directives', 'fields', 'connections'] as const;

/** Measures each operation before validation, in linear time: each fragment is measured once. */
export function measureOperations(schema: GraphQLSchema, document: DocumentNode): Map<OperationDefinitionNode, Size> {
  const measure = createMeasure(schema, document);
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  return new Map(operations.map((operation) => [operation, measure(operation)]));
}

/** An error for each limit that any of the operations exceeds. */
export function exceededLimits(sizes: Iterable<Size>, limits: Config['limits']): readonly GraphQLError[] {
  const all = [...sizes];
  const exceeded = measured.filter((name) => all.some((size) => size[name] > limits[name]));
  return exceeded.map((name) => limitExceeded(name, limits[name]));
}

const nothing: Size = {
  depth: 0,
  aliases: 0,
  rootFields: 0,
  directives: 0,
  fields: 0,
  connections: 0,
  objects: 0,
  branches: 0,
};

function createMeasure(schema: GraphQLSchema, document: DocumentNode): (operation: OperationDefinitionNode) => Size {
  const fragments = fragmentsOf(document);
  const sizes = new Map<string, Size>();

  const ofFragment = (name: string): Size => {
    const known = sizes.get(name);
    if (known) return known;
    // Validation rejects a fragment that spreads itself; here it adds nothing.
    sizes.set(name, nothing);
    const fragment = fragments.get(name);
    if (!fragment) return nothing;
    const inner = ofSelections(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value));
    const size = add(inner, { ...nothing, directives: fragment.directives?.length ?? 0 });
    sizes.set(name, size);
    return size;
  };

  const ofSelection = (node: SelectionNode, type: GraphQLNamedType | undefined): Size => {
    const directives = node.directives?.length ?? 0;
    if (node.kind === Kind.FRAGMENT_SPREAD) return add(ofFragment(node.name.value), { ...nothing, directives });
    if (node.kind === Kind.INLINE_FRAGMENT) {
      const inner = node.typeCondition ? schema.getType(node.typeCondition.name.value) : type;
      return add(ofSelections(node.selectionSet, inner), { ...nothing, directives });
    }
    const fieldType = getNamedType(fieldOf(type, node.name.value)?.type);
    const inner = node.selectionSet ? ofSelections(node.selectionSet, fieldType) : nothing;
    return {
      depth: inner.depth + 1,
      aliases: saturated(inner.aliases + (node.alias ? 1 : 0)),
      rootFields: 1,
      directives: saturated(inner.directives + directives),
      fields: saturated(inner.fields + 1),
      connections: saturated(inner.connections + (isConnectionType(fieldType) ? 1 : 0)),
      objects: saturated(inner.objects + (node.selectionSet ? 1 : 0)),
      branches: saturated(inner.branches + (isAbstractType(fieldType) ? schema.getPossibleTypes(fieldType).length : 0)),
    };
  };

  const ofSelections = ({ selections }: SelectionSetNode, type: GraphQLNamedType | undefined): Size =>
    selections.reduce((size, node) => add(size, ofSelection(node, type)), { ...nothing });

  return (operation) => {
    const root = schema.getRootType(operation.operation) ?? undefined;
    const variableDirectives = operation.variableDefinitions?.flatMap(({ directives = [] }) => directives).length ?? 0;
    const directives = (operation.directives?.length ?? 0) + variableDirectives;
    return add(ofSelections(operation.selectionSet, root), { ...nothing, directives });
  };
}

function add(one: Size, other: Size): Size {
  return {
    depth: Math.max(one.depth, other.depth),
    aliases: saturated(one.aliases + other.aliases),
    rootFields: saturated(one.rootFields + other.rootFields),
    directives: saturated(one.directives + other.directives),
    fields: saturated(one.fields + other.fields),
    connections: saturated(one.connections + other.connections),
    objects: saturated(one.objects + other.objects),
    branches: saturated(one.branches + other.branches),
  };
}

/** Fragments that spread fragments double the count at each level; above all limits it may be inexact. */
const saturated = (count: number) => Math.min(count, Number.MAX_SAFE_INTEGER / 4);

export const fieldOf = (type: GraphQLNamedType | undefined, name: string) =>
  isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;

export function fragmentsOf({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}

/** The selections at the root of an operation, with those of its fragments; a fragment that was seen is left out. */
export function* rootSelections(
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  seen: Set<string>,
): Generator<SelectionNode> {
  for (const selection of selections) {
    yield selection;
    if (selection.kind === Kind.INLINE_FRAGMENT) yield* rootSelections(selection.selectionSet, fragments, seen);
    if (selection.kind !== Kind.FRAGMENT_SPREAD || seen.has(selection.name.value)) continue;
    seen.add(selection.name.value);
    const fragment = fragments.get(selection.name.value);
    if (fragment) yield* rootSelections(fragment.selectionSet, fragments, seen);
  }
}

/** By name, as the Relay connection specification prescribes. */
export const isConnectionType = (type: GraphQLNamedType | undefined) =>
  isCompositeType(type) && type.name.endsWith('Connection');

/** One operation may need several plans, depending on the values of its variables. */
const plansOfOneOperation = 3;

/** Grafast requires at least two. */
const operationsOfOneDocument = 2;

/**
 * A copy of the schema with an isolated plan cache, which is freed with its document.
 * Grafast keeps the plans of a schema's last 500 operations, however large. This way the limit on documents limits the plans.
 */
export const withIsolatedPlanCache = (schema: GraphQLSchema): GraphQLSchema =>
  withPlanCache(schema, { operations: operationsOfOneDocument, plansOfOperation: plansOfOneOperation });

/** Estimates the memory of a document's plans from the sizes of its operations, as measured. */
export function bytesOfPlans(sizes: Iterable<Size>): number {
  const largest = [...sizes].map(bytesOfPlan).toSorted((a, b) => b - a);
  return largest.slice(0, operationsOfOneDocument).reduce((sum, bytes) => sum + bytes, 0);
}

/**
 * Estimates how long planning an operation takes, with compiling it, in milliseconds of a thread.
 * Objects and branches predict it, since each is a step of a plan, or several. A mutation is planned field by field.
 */
export const planningMs = ({ objects, branches, fields, rootFields }: Size, isMutation = false): number =>
  2 + (0.65 * objects + 0.4 * branches + 0.03 * fields) / (isMutation ? Math.max(1, rootFields) : 1);

const bytesOfPlan = ({ fields, branches, connections, directives }: Size) =>
  (100_000 + 11_000 * (fields + branches) + 25_000 * connections) * (directives > 0 ? plansOfOneOperation : 1);
