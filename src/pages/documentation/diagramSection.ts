import {
  type GraphQLCompositeType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
} from 'postgraphile/graphql';
import { type Html, html } from '../../html/html.ts';
import { type Field, fieldsOf, nodesOf } from './fields.ts';

/**
 * The schema as a graph: a box for each type that operations reach.
 * Columns are ordered by the distance from `Query`, and the page's script draws the lines. Connections and payloads are skipped, so a
 * mutation leads to the type that it changes.
 */
export function renderDiagram(schema: GraphQLSchema): Html {
  return html`<figure class="diagram">
<figcaption><span>Each type leads to its description; <code>[]</code> stands for many.</span>
<label><input type="checkbox" id="every-field"> Every field</label></figcaption>
<div id="graph" role="region" aria-label="Diagram of the types" tabindex="0"><div id="columns">
<svg aria-hidden="true"><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">
<path d="M0 0 8 4 0 8z"/></marker><g id="lines" marker-end="url(#arrow)"></g></svg>
${columnsOf(schema).map((types) => html`<div>${types.map((type) => renderType(schema, type))}</div>`)}
</div></div>
</figure>`;
}

const renderType = (schema: GraphQLSchema, type: GraphQLCompositeType) =>
  html`<a class="box" id="TYPE::${type.name}" href="#${type.name}"><b>${type.name}</b>
${rowsOf(schema, type).map(({ label, targets }) =>
  targets.length > 0
    ? html`<span data-to="${targets.join(' ')}">${label}</span>`
    : html`<span class="leaf">${label}</span>`,
)}</a>
`;

/**
 * Breadth first, so that no line leads past a column.
 * A root after `Query` stands before the first type that it leads to.
 */
function columnsOf(schema: GraphQLSchema): GraphQLCompositeType[][] {
  const columns: GraphQLCompositeType[][] = [];
  const placed = new Set<GraphQLCompositeType>();
  const place = (type: GraphQLCompositeType, index: number) => {
    if (placed.has(type)) return;
    placed.add(type);
    const column = columns[index];
    if (column) column.push(type);
    else columns[index] = [type];
  };
  const targetsOf = (type: GraphQLCompositeType) =>
    rowsOf(schema, type).flatMap(({ targets }) => targets.map((name) => schema.getType(name)).filter(isCompositeType));

  for (const root of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]) {
    if (!root) continue;
    const targets = targetsOf(root);
    place(root, Math.max(0, columns.findIndex((column) => column.some((type) => targets.includes(type))) - 1));
    // The loops also visit what they add.
    for (const [index, column] of columns.entries())
      for (const type of column) for (const target of targetsOf(type)) place(target, index + 1);
  }
  return columns;
}

/** A field leads to one type. The last row of an interface or union leads to all its possible types. */
type Row = { readonly label: string; readonly targets: readonly string[] };

function rowsOf(schema: GraphQLSchema, type: GraphQLCompositeType): Row[] {
  const rows = fieldsOf(type).map((field) => {
    const target = isInherited(type, field) ? null : targetOf(field);
    return { label: field.name + (isMany(field) ? '[]' : ''), targets: target ? [target.name] : [] };
  });
  if (isObjectType(type)) return rows;
  const label = isInterfaceType(type) ? '«interface»' : '«union»';
  return [...rows, { label, targets: schema.getPossibleTypes(type).map(({ name }) => name) }];
}

/** Null for a scalar, and for `Node`, which would lead everywhere. */
function targetOf({ type }: Field): GraphQLCompositeType | null {
  const target = getNamedType(type);
  if (!isCompositeType(target) || target.name === 'Node') return null;
  if (target.name.endsWith('Payload')) return fieldsOf(target).map(targetOf).find(Boolean) ?? null;
  const nodes = nodesOf(target);
  return nodes ? targetOf(nodes) : target;
}

const isMany = ({ type }: Field) => Boolean(nodesOf(getNamedType(type))) || isListType(getNullableType(type));

/** Whether an interface's box already has the line. */
const isInherited = (type: GraphQLCompositeType, { name }: Field) =>
  isObjectType(type) && type.getInterfaces().some((parent) => parent.name !== 'Node' && name in parent.getFields());
