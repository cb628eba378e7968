import { Graph, layout } from '@dagrejs/dagre';
import {
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isIntrospectionType,
  isLeafType,
} from 'postgraphile/graphql';
import { Html, html } from '../../html/html.ts';
import {
  type DomainType,
  domainTypesOf,
  type Field,
  fieldsOf,
  groupMutations,
  isInherited,
  isMany,
  targetOf,
} from './domain.ts';
import type { Documentation } from './frame.ts';
import { firstSentence, kindOf, renderFieldLink, renderInline, renderReference } from './render.ts';

/** The first page: how the domain types hang together, then where reading begins, what changes them, and all types. */
export function renderStartPage(documentation: Documentation): Html {
  const { url, path, schemaPath, schema } = documentation;
  const list = (type: string, fields: readonly Field[]) =>
    html`<dl class="list">${fields.map(
      ({
        name,
        description,
      }) => html`<dt>${renderFieldLink(documentation, type, name, name)}</dt><dd>${renderInline(firstSentence(description))}</dd>
`,
    )}</dl>`;
  const [query, subscription] = [schema.getQueryType(), schema.getSubscriptionType()];
  // Those that need nothing but a token come first.
  const roots = query ? fieldsOf(query).toSorted((one, other) => one.args.length - other.args.length) : [];
  return html`<h1>The graph and its API</h1>
<p class="lead">One endpoint, <code>${url}/graphql</code>. Begin with an <a id="token" href="${path}/tokens">access token</a>, and with a field
of <a href="${path}/Query"><code>Query</code></a>.</p>
<figure class="diagram">
<div class="sheet" role="region" aria-label="Diagram of the types" tabindex="0">
${renderDiagram(schema, (type) => `${path}/${type}`)}
</div>
<figcaption>Each box leads to its type. A line is named after the fields that follow it; a crow’s foot stands for many, and ↻ for a field that leads to the same type.</figcaption>
</figure>
<h2 id="reading">Reading</h2>
${query && list(query.name, roots)}
<h2 id="types">Types</h2>
<dl class="list">${domainTypesOf(schema).map(
    (
      type,
    ) => html`<dt>${renderReference(documentation, type)}</dt><dd>${renderInline(firstSentence(type.description))}</dd>
`,
  )}</dl>
<h2 id="mutations">Mutations, by subject</h2>
${groupMutations(schema).map(
  ({ subject, mutations }) => html`<h3>${subject?.name ?? 'Others'}</h3>
${list('Mutation', mutations)}
`,
)}
${
  subscription &&
  html`<h2 id="following">Following</h2>
${list(subscription.name, fieldsOf(subscription))}`
}
<h2 id="guides">Guides</h2>
<ul>
<li><a href="${path}/tokens">Access tokens and requests</a>: each grant as a command, inspecting, revoking</li>
<li><a href="${path}/errors">Errors and limits</a>: what each code means, and what to do</li>
<li><a href="${schemaPath}">schema.graphql</a>: the schema as a file, for your tools</li>
</ul>
<h2 id="all-types">All types</h2>
${renderIndex(documentation)}`;
}

/** Every type of the schema, by kind. */
function renderIndex(documentation: Documentation): Html {
  const types = Object.values(documentation.schema.getTypeMap()).filter((type) => !isIntrospectionType(type));
  const groups = Map.groupBy(types, titleOf);
  return html`${titles.map((title) => {
    const group = groups.get(title)?.toSorted((one, other) => one.name.localeCompare(other.name));
    return html`${
      group &&
      html`<h3>${title}</h3>
<p class="index">${group.map((type) => html`${renderReference(documentation, type)} `)}</p>`
    }`;
  })}
<p><a href="${documentation.path}/directives">Directives</a></p>`;
}

const titles = ['Objects', 'Inputs', 'Enums and scalars', 'Connections and payloads'] as const;

function titleOf(type: GraphQLNamedType): (typeof titles)[number] {
  if (/(Connection|Edge|PageInfo|Payload)$/.test(type.name)) return 'Connections and payloads';
  const kind = kindOf(type);
  if (kind === 'input') return 'Inputs';
  return kind === 'enum' || kind === 'scalar' ? 'Enums and scalars' : 'Objects';
}

/**
 * Entity-relationship diagram of the domain types, as SVG: layered graph drawing (Sugiyama) by dagre.
 * The server lays it out, so that the page needs no script and its policy no exception. All fields between two types are one line.
 *
 * @param hrefOf the page of a type
 */
export function renderDiagram(schema: GraphQLSchema, hrefOf: (type: string) => string): Html {
  const types = domainTypesOf(schema);
  const graph = layOut(types.map(boxOf), relationsOf(types));
  const { width = 0, height = 0 } = graph.graph();
  const lines = graph.edges().map((edge: { readonly v: string; readonly w: string }) => {
    const { v, w } = edge;
    return renderLine(graph.edge(edge), graph.node(v).x <= graph.node(w).x);
  });
  return html`<svg class="drawing" role="group" aria-label="The types, and the fields that lead from one to another"
viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}" width="${Math.ceil(width)}" height="${Math.ceil(height)}">
<defs>${markers}</defs>
${lines}${types.map(({ name }) => renderBox(graph.node(name), hrefOf(name)))}</svg>`;
}

type Box = { readonly name: string; readonly rows: readonly string[]; width: number; height: number };
type PlacedBox = Box & { readonly x: number; readonly y: number };

type Relation = {
  readonly from: string;
  readonly to: string;
  /** The fields of `from` that lead to `to`, and those of `to` that lead back. */
  readonly there: readonly string[];
  readonly back: readonly string[];
  /** How many there are at each end; null where no field says it. */
  readonly ends: { readonly from: End; readonly to: End };
};
type End = 'one' | 'many' | 'interface' | null;
type Line = Relation & { readonly points: readonly Point[]; readonly x: number; readonly y: number };
type Point = { readonly x: number; readonly y: number };

/** Of a monospaced font: a character of 13 pixels is at most 0.61 of them wide. */
const characterWidth = 8;
const rowHeight = 19;
const headHeight = 30;
const padding = 12;
const maxRows = 7;

function boxOf(type: DomainType): Box {
  const leaves = fieldsOf(type).filter(
    (field) => isLeafType(getNamedType(field.type)) && !isInherited(type, field) && !ofEveryRow.test(field.name),
  );
  const names = leaves.map(({ name }) => name);
  const isLong = names.length > maxRows;
  const shown = isLong ? [...names.slice(0, maxRows - 1), `… ${names.length - maxRows + 1} more`] : names;
  const own = fieldsOf(type).filter((field) => targetOf(field) === type && !isInherited(type, field));
  const rows = [...shown, ...own.map(({ name }) => `↻ ${name}`)];
  const longest = Math.max(...[type.name, ...rows].map(({ length }) => length));
  const rowsHeight = rows.length > 0 ? rows.length * rowHeight + 10 : 0;
  return { name: type.name, rows, width: longest * characterWidth + 2 * padding, height: headHeight + rowsHeight };
}

/** What every row has tells nothing in a drawing. */
const ofEveryRow = /^(id|createdAt|updatedAt)$/;

/** One for each two types that refer to each other, and for each interface and a type of it. Fields of the same type are in its box. */
function relationsOf(types: readonly DomainType[]): Relation[] {
  const fieldsTo = (from: DomainType, to: DomainType) =>
    fieldsOf(from).filter((field) => targetOf(field) === to && !isInherited(from, field));
  const relate = (one: DomainType, other: DomainType): Relation[] => {
    // An interface comes before its types.
    const [from, to] = one.getInterfaces().some((it) => it === other) ? [other, one] : [one, other];
    const there = fieldsTo(from, to);
    const back = fieldsTo(to, from);
    const isOfInterface = to.getInterfaces().some((it) => it === from);
    if (there.length + back.length === 0 && !isOfInterface) return [];
    const names = (fields: typeof there) => fields.map(({ name }) => name);
    const ends = { from: isOfInterface ? 'interface' : endOf(back), to: endOf(there) } as const;
    return [{ from: from.name, to: to.name, there: names(there), back: names(back), ends }];
  };
  return types.flatMap((one, index) => types.slice(index + 1).flatMap((other) => relate(one, other)));
}

const endOf = (fields: readonly Field[]): End => (fields.length === 0 ? null : fields.some(isMany) ? 'many' : 'one');

/** From left to right in the order of the types. */
function layOut(boxes: readonly Box[], relations: readonly Relation[]): Graph<Size, PlacedBox, Line> {
  const graph = new Graph<Size, PlacedBox, Line>();
  graph.setGraph({ rankdir: 'LR', nodesep: 28, ranksep: 30, edgesep: 16, marginx: 8, marginy: 8 } as Size);
  for (const box of boxes) graph.setNode(box.name, { ...box } as PlacedBox);
  for (const relation of relations) {
    const labels = [...relation.there, ...relation.back];
    const width = labels.length > 0 ? Math.max(...labels.map(({ length }) => length + 2)) * labelWidth + 16 : 0;
    graph.setEdge(relation.from, relation.to, {
      ...relation,
      width,
      height: labels.length * labelHeight,
      labelpos: 'c',
    } as unknown as Line);
  }
  layout(graph);
  return graph;
}

type Size = { width?: number; height?: number };
const labelWidth = 7.4;
const labelHeight = 16;

/** The whole box is the link, and the title alone is its name. */
const renderBox = ({ name, rows, x, y, width, height }: PlacedBox, href: string) =>
  html`<g transform="translate(${round(x - width / 2)} ${round(y - height / 2)})">
<a href="${href}"><rect class="box" width="${round(width)}" height="${height}" rx="8"/>
<rect class="head" width="${round(width)}" height="${headHeight}" rx="8"/>
<text class="name" x="${padding}" y="20">${name}</text></a>
${rows.map((row, index) => html`<text class="leaf" x="${padding}" y="${headHeight + 19 + index * rowHeight}">${row}</text>`)}</g>
`;

/** @param isForwards whether its second type is on the right; the arrows beside the names say who has the field */
function renderLine({ there, back, ends, points, x, y }: Line, isForwards: boolean): Html {
  const forth = there.map((name) => (isForwards ? `${name} →` : `← ${name}`));
  const labels = [...forth, ...back.map((name) => (isForwards ? `← ${name}` : `${name} →`))];
  const top = y - (labels.length * labelHeight) / 2 + 12;
  const marker = (end: End, side: string) => end && html` marker-${side}="url(#end-${end})"`;
  return html`<path class="line" d="${pathOf(points)}"${marker(ends.from, 'start')}${marker(ends.to, 'end')}/>
${labels.map((label, index) => html`<text class="label" x="${round(x)}" y="${round(top + index * labelHeight)}">${label}</text>`)}
`;
}

/** The points as a quadratic spline: it passes the middle of each two of them, and ends straight. */
function pathOf([first, ...points]: readonly Point[]): string {
  const write = ({ x, y }: Point) => `${round(x)} ${round(y)}`;
  const curves = points.slice(0, -1).map((point, index) => {
    const next = points[index + 1] ?? point;
    const middle = { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${write(point)} ${write(middle)}`;
  });
  return `M${first ? write(first) : ''}${curves.join('')}L${write(points.at(-1) ?? { x: 0, y: 0 })}`;
}

const round = (length: number) => Math.round(length * 10) / 10;

/** Ends of lines: crow's foot notation, and UML's triangle of generalization. */
const markers = new Html(
  Object.entries({ one: 'M-7-5V5', many: 'M-10 0 0-6M-10 0 0 6M-12-5V5', interface: 'M-12-6 0 0-12 6z' })
    .map(
      ([end, d]) =>
        `<marker id="end-${end}" viewBox="-14 -8 16 16" markerWidth="16" markerHeight="16" markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="${d}"/></marker>`,
    )
    .join(''),
);
