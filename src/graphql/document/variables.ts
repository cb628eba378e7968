import { printPathArray } from 'graphql/jsutils/printPathArray.js';
import {
  coerceInputValue,
  type DocumentNode,
  GraphQLError,
  type GraphQLErrorExtensions,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  separateOperations,
  TypeInfo,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from 'postgraphile/graphql';
import { refusal } from '../../../plugins/refusal.ts';
import { rootOf } from '../errors.ts';
import type { InexactNumber } from '../request.ts';
import type { PreparedDocument } from './document.ts';
import { ErrorList, excerptOf, shortened, withoutEndOf } from './documentError.ts';
import { argumentOf, inexact } from './rules/inexactLiterals.ts';
import { suggest } from './rules/suggestions.ts';

export type Variables = Readonly<Record<string, unknown>>;

/**
 * Keeps the variables that the operation declares.
 * The others are not checked: they may be nested too deep for a message to another thread, and would be kept while the request waits.
 */
export function declaredVariables(
  variables: Variables,
  { variableDefinitions = [] }: OperationDefinitionNode,
): Variables {
  const declared: Record<string, unknown> = Object.create(null);
  for (const { variable } of variableDefinitions) {
    const name = variable.name.value;
    if (Object.hasOwn(variables, name)) declared[name] = variables[name];
  }
  return declared;
}

/** Rejects numbers in declared variables that a double cannot keep, since others would be stored. @throws {DocumentError} */
export function refuseInexactNumbers(prepared: PreparedDocument, numbers: readonly InexactNumber[]): void {
  if (numbers.length === 0) return;
  const declared = declarationsOf(prepared);
  const errors = new ErrorList();
  for (const { variable, path, source } of numbers) {
    const extensions = declared.get(variable)?.extensions();
    if (extensions)
      errors.add(() => inexact(`Variable "$${variable}" has the number ${shortened(source)} at "${path}"`, extensions));
  }
  errors.throwIfAny();
}

/**
 * The variables in the types that the operation declares (GraphQL section 6.1.2), by GraphQL.js and with its messages, shortened.
 * Unknown fields of input objects are found first, and nothing is coerced if there are any.
 *
 * @throws {DocumentError} `BAD_USER_INPUT` with `extensions.variable`, and the `argument` that the variable is for
 */
export function coerceVariables(
  schema: GraphQLSchema,
  prepared: PreparedDocument,
  variables: Variables,
  hideSuggestions = true,
): Variables {
  const declared = declarationsOf(prepared);
  const typed = [...declared].map(([name, { node, extensions }]) => {
    const refuse = (message: string) => new GraphQLError(message, { nodes: node, extensions: extensions() });
    return { name, node, type: typeFromAST(schema, node.type) as GraphQLInputType, refuse };
  });

  const unknown = new ErrorList();
  for (const { name, type, refuse } of typed)
    visitUnknownFields(type, variables[name], [], ({ path, object, fields, ofType }) => {
      let beginning: string | undefined;
      for (const field of fields)
        unknown.add(() => {
          beginning ??= invalidValue(name, path, object);
          const near = hideSuggestions ? '' : suggest(field, Object.keys(ofType.getFields()));
          return refuse(`${beginning}; ${shortened(`Field "${field}" is not defined by type "${ofType}".`)}${near}`);
        });
    });
  unknown.throwIfAny();

  const errors = new ErrorList();
  // Without a prototype: a variable may be called `__proto__`.
  const coerced: Record<string, unknown> = Object.create(null);
  for (const { name, node, type, refuse } of typed) {
    const value = variables[name];
    if (!Object.hasOwn(variables, name)) {
      if (node.defaultValue) coerced[name] = valueFromAST(node.defaultValue, type);
      else if (isNonNullType(type)) errors.add(() => refuse(wasNotProvided(name, type)));
    } else if (value === null && isNonNullType(type)) {
      errors.add(() => refuse(`Variable "$${name}" of non-null type "${type}" must not be null.`));
    } else {
      const onError: OnError = (path, invalid, error) =>
        errors.addDear(() =>
          refuse(
            isTooDeep(error) ? tooDeep : `${invalidValue(name, path, invalid)}; ${problemOfValue(error, invalid)}`,
          ),
        );
      coerced[name] = coerceInputValue(value, type, onError, hideSuggestions);
    }
  }
  errors.throwIfAny();
  return coerced;

  function wasNotProvided(name: string, type: GraphQLInputType): string {
    const others = hideSuggestions ? [] : Object.keys(variables).filter((other) => !declared.has(other));
    return `Variable "$${name}" of required type "${type}" was not provided.${suggest(name, others, '', 'it by')}`;
  }
}

type OnError = NonNullable<Parameters<typeof coerceInputValue>[2]>;
type Path = readonly (string | number)[];

/** The definitions of the operation's variables by their names, and the extensions of an error about one. */
function declarationsOf(prepared: PreparedDocument) {
  const declare = (node: VariableDefinitionNode) => {
    const variable = node.variable.name.value;
    let found: GraphQLErrorExtensions | undefined;
    // Reads the document, so that it is done once for a variable, and only if it is wrong.
    const extensions = () => {
      found ??= { code: 'BAD_USER_INPUT', argument: argumentOf(variable, selectedIn(prepared)), variable };
      return found;
    };
    return [variable, { node, extensions }] as const;
  };
  return new Map((prepared.operation.variableDefinitions ?? []).map(declare));
}

/** The beginning of GraphQL.js' message. */
function invalidValue(variable: string, path: Path, value: unknown): string {
  const place = path.length > 0 ? ` at "${variable}${printPathArray(path)}"` : '';
  return `Variable "$${variable}" got invalid value ${excerptOf(value)}${place}`;
}

const problemOfValue = ({ message }: GraphQLError, value: unknown) => shortened(withoutEndOf(value, message));

/** A scalar that takes any value converts it to text, which overflows the stack if lists are nested too deep. */
const isTooDeep = (error: GraphQLError) => rootOf(error) instanceof RangeError;
const tooDeep = 'A variable is nested too deep.';

/** The members of an input object that are no fields of its type. */
type UnknownFields = {
  readonly path: Path;
  readonly object: object;
  readonly fields: readonly string[];
  readonly ofType: GraphQLInputObjectType;
};

/** Visits the input objects that have unknown fields, at any depth. */
function visitUnknownFields(type: GraphQLInputType, value: unknown, path: Path, visit: (found: UnknownFields) => void) {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    if (!isInputObjectType(getNamedType(nullable))) return;
    if (!Array.isArray(value)) return visitUnknownFields(nullable.ofType, value, path, visit);
    for (const [index, item] of value.entries()) visitUnknownFields(nullable.ofType, item, [...path, index], visit);
    return;
  }
  if (!isInputObjectType(nullable) || typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const known = nullable.getFields();
  const fields = Object.keys(value).filter((name) => !Object.hasOwn(known, name));
  if (fields.length > 0) visit({ path, object: value, fields, ofType: nullable });
  for (const { name, type: inner } of Object.values(known))
    if (Object.hasOwn(value, name))
      visitUnknownFields(inner, value[name as keyof typeof value], [...path, name], visit);
}

/**
 * Rejects null, given or absent, in a nullable variable at a position that takes none.
 * Validation allows such a variable with a default (GraphQL section 5.8.5). It also allows one as a field of a `@oneOf` input object, since
 * only the value decides there. Grafast would then fail to plan the whole operation, take null for true, or call a function without any key.
 */
export function misplacedNulls(
  schema: GraphQLSchema,
  prepared: PreparedDocument,
  values: Readonly<Record<string, unknown>>,
): GraphQLError[] {
  const definitions = prepared.operation.variableDefinitions ?? [];
  const names = definitions.map(({ variable }) => variable.name.value).filter((name) => values[name] == null);
  if (names.length === 0) return [];
  const argumentOf = neededIn(schema, prepared);
  return names
    .filter((name) => argumentOf.has(name))
    .map((variable) =>
      refusal('BAD_USER_INPUT', `Variable "$${variable}" cannot be null here.`, {
        argument: argumentOf.get(variable),
        variable,
      }),
    );
}

/** Memoized, since each request may leave out a variable. */
const neededInOperations = new WeakMap<OperationDefinitionNode, ReadonlyMap<string, string | undefined>>();

/** The variables at a position that takes no null, with its argument. */
function neededIn(schema: GraphQLSchema, prepared: PreparedDocument): ReadonlyMap<string, string | undefined> {
  const known = neededInOperations.get(prepared.operation);
  if (known) return known;
  const needed = new Map<string, string | undefined>();
  const types = new TypeInfo(schema);
  visit(
    selectedIn(prepared),
    visitWithTypeInfo(types, {
      [Kind.VARIABLE]({ name: { value: name } }) {
        if (needed.has(name)) return;
        const parent = getNamedType(types.getParentInputType());
        const isOneOf = isInputObjectType(parent) && parent.isOneOf;
        if (isOneOf || isNonNullType(types.getInputType())) needed.set(name, types.getArgument()?.name);
      },
    }),
  );
  neededInOperations.set(prepared.operation, needed);
  return needed;
}

/** The requested operation and the fragments that it uses. */
const selectedIn = ({ document, operation }: PreparedDocument): DocumentNode =>
  separateOperations(document)[operation.name?.value ?? ''] ?? document;
