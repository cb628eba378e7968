import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import type { Connection, Field, Filter, Root } from './checks.ts';
import { fieldNameOf } from './model.ts';
import { keyOfKnown, type Source, type State } from './state.ts';
import { typeOf } from './types.ts';

export type Operation = { readonly query: string; readonly variables: Record<string, unknown> };

/** Writes documents for drawn selections, with their arguments in variables, or half of them in the document. */
export class Renderer {
  readonly #state: State;
  readonly #schema: GraphQLSchema;
  readonly #isInline: boolean;
  readonly #definitions: string[] = [];
  readonly variables: Record<string, unknown> = {};
  /** The connection whose page the caller gives. */
  walked: { readonly field: Field; readonly more: readonly string[] } | null = null;

  constructor(state: State, schema: GraphQLSchema, isInline = false) {
    this.#state = state;
    this.#schema = schema;
    this.#isInline = isInline;
  }

  document(roots: readonly Root[], more = '', operation = 'query'): Operation {
    const text = roots.map((root, index) => this.#root(root, `r${index}`)).join(' ');
    const definitions = this.#definitions.length > 0 ? `(${this.#definitions.join(', ')}) ` : '';
    const head = definitions || operation !== 'query' ? `${operation} ${definitions}` : '';
    return { query: `${head}{ ${text}${more} }`, variables: this.variables };
  }

  /** Adds a variable of the caller's own. */
  define(name: string, type: string): void {
    this.#definitions.push(`$${name}: ${type}`);
  }

  #root(root: Root, key: string): string {
    if (root.kind === 'app') return `${key}: app { ${this.selection(root.selection, null)} }`;
    if (root.kind === 'viewer') return `${key}: viewer { ${this.selection(root.selection, 'users')} }`;
    const id = this.#value('ID!', this.#state.ids.get(keyOfKnown(root.of)) ?? '', null);
    const type =
      root.of.source === 'units' ? 'Unit' : root.of.source === 'users' ? 'User' : this.#sourceOf(root.of.source).type;
    return `${key}: node(id: ${id}) { __typename ... on ${type} { ${this.selection(root.selection, root.of.source)} } }`;
  }

  selection(fields: readonly Field[], of: string | null): string {
    const keys = keysOf(fields, this.#state);
    const source = this.#state.sources.get(of ?? '');
    return (
      fields.map((field, index) => spread(this.#field(field, keys[index] ?? '', of), field, source)).join(' ') ||
      '__typename'
    );
  }

  #field(field: Field, key: string, of: string | null): string {
    const name = nameOf(field, this.#state, of);
    const aliased = name === key ? name : `${key}: ${name}`;
    switch (field.kind) {
      case 'column': {
        const source = this.#sourceOf(of ?? '');
        const column = source.columns.find((one) => one.name === field.column);
        const text = `${aliased} ${(column && typeOf(column.type).selection) ?? ''}`;
        const owner = source.isView ? undefined : ownerOf(source, field.column);
        return owner ? `... on ${owner} { ${text} }` : text;
      }
      case 'forward': {
        const reference = this.#sourceOf(of ?? '').table.references.find((one) => one.name === field.reference);
        return `${aliased} { ${this.selection(field.selection, reference?.target ?? '')} }`;
      }
      case 'call': {
        const type = this.#typeNameOf(of);
        const given = Object.entries(field.arguments).map(
          ([argument, value]) => `${argument}: ${this.argument(type, name, argument, value)}`,
        );
        const made = field.selection.length > 0 ? ` { ${this.selection(field.selection, of)} }` : '';
        return `${aliased}${given.length > 0 ? `(${given.join(', ')})` : ''}${made}`;
      }
      case 'connection':
        return `${aliased}${this.#arguments(field, this.#typeNameOf(of), name)} { ${this.connectionBody(field)} }`;
      default:
        return aliased;
    }
  }

  connectionBody({ wants, selection, source }: Connection): string {
    const row = this.selection(selection, source);
    return [
      wants.includes('totalCount') ? 'totalCount' : '',
      wants.includes('pageInfo') ? 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }' : '',
      wants.includes('edges') ? `edges { cursor node { ${row} } }` : `nodes { ${row} }`,
    ].join(' ');
  }

  #arguments(field: Connection, type: string, name: string): string {
    const given = [...this.argumentsOf(field, type, name), ...(this.walked?.field === field ? this.walked.more : [])];
    return given.length > 0 ? `(${given.join(', ')})` : '';
  }

  argumentsOf({ page, orderBy, filters, ids, via }: Connection, type: string, name: string): string[] {
    const given: string[] = [];
    const add = (argument: string, value: unknown) => {
      given.push(`${argument}: ${this.argument(type, name, argument, value)}`);
    };
    for (const [argument, value] of Object.entries(page)) add(argument, value);
    if (orderBy.length > 0) add('orderBy', orderBy);
    if (ids)
      add(
        'ids',
        ids.map((known) => this.#state.ids.get(keyOfKnown(known)) ?? ''),
      );
    for (const filter of filters) add(filter.argument, jsonOf(filter));
    if (via.kind === 'call' && via.minimum !== undefined) add('minimum', via.minimum);
    return given;
  }

  argument(type: string, field: string, argument: string, value: unknown): string {
    const graphql = this.#schema.getType(type);
    const known = isObjectType(graphql) || isInterfaceType(graphql) ? graphql.getFields()[field] : undefined;
    const input = known?.args.find(({ name }) => name === argument)?.type;
    if (!input) throw new Error(`The schema has no argument ${type}.${field}(${argument}:).`);
    return this.#value(String(input), value, input);
  }

  #value(type: string, value: unknown, input: GraphQLInputType | null): string {
    if (this.#isInline && input) return inline(value, isEnumType(getNamedType(input)));
    const name = `v${Object.keys(this.variables).length}`;
    this.variables[name] = value;
    this.define(name, type);
    return `$${name}`;
  }

  /** A type that has the fields: of an interface one of its types. */
  #typeNameOf(of: string | null): string {
    if (of === null) return 'App';
    if (of === 'units' || of === 'users') return of === 'units' ? 'Unit' : 'User';
    const { table, isView, type } = this.#sourceOf(of);
    return (isView ? undefined : table.interface?.kinds[0]?.type) ?? type;
  }

  #sourceOf(name: string): Source {
    const source = this.#state.sources.get(name);
    if (!source) throw new Error(`There is no ${name}.`);
    return source;
  }
}

/** Functions and connections are fields of the types of an interface, and not of the interface. */
function spread(text: string, { kind }: Field, source: Source | undefined): string {
  const kinds = source && !source.isView ? source.table.interface?.kinds : undefined;
  if (!kinds || (kind !== 'call' && kind !== 'connection')) return text;
  return kinds.map(({ type }) => `... on ${type} { ${text} }`).join(' ');
}

/** The type of an interface to which a column belongs, unless it belongs to all. */
export const ownerOf = ({ table }: Source, column: string): string | undefined =>
  table.interface?.kinds.find(({ attributes }) => attributes.includes(column))?.type;

function nameOf(field: Field, { sources }: State, of: string | null): string {
  const table = sources.get(of ?? '')?.table;
  switch (field.kind) {
    case 'typename':
      return '__typename';
    case 'column':
      return fieldNameOf(field.column);
    case 'forward':
      return table?.references.find(({ name }) => name === field.reference)?.forward ?? '';
    case 'call':
      return field.name;
    case 'connection': {
      if (field.via.kind === 'app') return sources.get(field.source)?.field ?? '';
      if (field.via.kind === 'call') return field.via.name;
      const { reference, kind } = field.via;
      const found = sources.get(field.source)?.table.references.find(({ name }) => name === reference);
      return (kind === 'conditional' ? found?.conditional : found?.backward) ?? '';
    }
    default:
      return field.kind;
  }
}

/** Under which keys an answer has the fields. */
export const keysOf = (fields: readonly Field[], state: State): string[] =>
  fields.map((field, index) =>
    ['typename', 'id', 'mark', 'externalIdentifier'].includes(field.kind) && fields.indexOf(field) === index
      ? nameOf(field, state, null)
      : `f${index}`,
  );

export const jsonOf = ({ operator, type, texts }: Filter): unknown => {
  if (operator === 'isNull') return texts[0] === 'true';
  const values = texts.map((text) => typeOf(type).toJson(text));
  return operator === 'anyOf' ? values : values[0];
};

function inline(value: unknown, isEnum: boolean): string {
  if (Array.isArray(value)) return `[${value.map((item) => inline(item, isEnum)).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([name, item]) => `${name}: ${inline(item, false)}`)
      .join(', ')} }`;
  return isEnum && typeof value === 'string' ? value : JSON.stringify(value);
}
