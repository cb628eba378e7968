import { type SQL, sql } from 'postgraphile/pg-sql2';
import { kindOf, type SqlNode } from './internals.ts';
import { NotCompilableError } from './LayerCompiler.ts';

/**
 * The shape of a statement: what its text follows from, apart from the values that it is given.
 * Two runs of one shape have the same text, with other values at the same places.
 */
export class StatementShape {
  key = '';
  readonly values: unknown[] = [];
  readonly #nodes: SqlNode[] = [];
  readonly #symbols: (symbol | undefined)[] = [];

  text(text: string): void {
    this.key += text + end;
  }

  value(value: unknown): void {
    this.values.push(value);
    this.#nodes.push(noNode);
  }

  /** SQL whose text is a part of the shape, and whose values are values. */
  fragment(fragment: SQL): SQL {
    this.#add(fragment as SqlNode);
    this.key += end;
    return fragment;
  }

  #add(node: SqlNode): void {
    const kind = kindOf(node);
    if (kind === 'RAW') {
      this.key += node.t;
    } else if (kind === 'VALUE') {
      // pg-sql2 makes one parameter of one node, however often it occurs.
      const known = this.#nodes.indexOf(node);
      this.key += `$${known === -1 ? this.#nodes.push(node) - 1 : known}`;
      if (known === -1) this.values.push(node.v);
    } else if (kind === 'IDENTIFIER') {
      const known = this.#symbols.indexOf(node.s);
      this.key += `${node.n}#${known === -1 ? this.#symbols.push(node.s) - 1 : known}`;
    } else if (kind === 'PLACEHOLDER') {
      // Grafast puts a value or column in its place when it builds the text.
      this.key += `@${String(node.s)}`;
    } else {
      for (const inner of nodesIn(node)) this.#add(inner);
    }
  }
}

const noNode: SqlNode = {};

/** In no text of PostgreSQL, and in JSON escaped. */
const end = '\0';

/** Marks in the places of a statement's values, in the order in which its shape has these. */
export class Marks {
  readonly #marks: readonly object[];
  readonly #marked = new Map<SqlNode, SQL>();
  #next = 0;

  constructor({ values }: StatementShape) {
    this.#marks = values.map(() => ({}));
  }

  next(): object {
    const mark = this.#marks[this.#next++];
    if (!mark) throw new NotCompilableError('A value that its shape has not');
    return mark;
  }

  text(): void {}

  fragment(fragment: SQL): SQL {
    return this.#mark(fragment as SqlNode) as SQL;
  }

  /** Which of the shape's values a parameter is; -1 if it is the same in each run. */
  indexOf(parameter: unknown): number {
    return this.#marks.indexOf(parameter as object);
  }

  #mark(node: SqlNode): SqlNode {
    const kind = kindOf(node);
    if (kind === 'RAW' || kind === 'IDENTIFIER' || kind === 'PLACEHOLDER') return node;
    if (kind === 'VALUE') {
      const known = this.#marked.get(node) ?? sql.value(this.next() as never);
      this.#marked.set(node, known);
      return known as SqlNode;
    }
    const inner = nodesIn(node).map((each) => this.#mark(each));
    return withNodes(node, kind === 'QUERY' ? { n: inner } : { c: inner[0] as SqlNode });
  }
}

function nodesIn(node: SqlNode): readonly SqlNode[] {
  const kind = kindOf(node);
  if (kind === 'QUERY') return node.n as readonly SqlNode[];
  if (kind === 'INDENT') return [node.c as SqlNode];
  throw new NotCompilableError(`SQL with ${kind}`);
}

/** The same node with other nodes in it. */
const withNodes = (node: SqlNode, inner: Pick<SqlNode, 'n' | 'c'>): SqlNode =>
  Object.assign(Object.create(Object.getPrototypeOf(node)), node, inner);
