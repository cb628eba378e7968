import fc from 'fast-check';
import {
  buildSchema,
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  OverlappingFieldsCanBeMergedRule,
  parse,
  validate,
} from 'postgraphile/graphql';
import { findConflicts } from '../../src/graphql/document/rules/overlappingFields.ts';
import { seed, sizeOf } from '../support/search.ts';

const count = sizeOf({ small: 800, whole: 20_000 });

const schema = buildSchema(`
  interface Box { id: ID inner: Box text(a: Int, b: Point): String any: Any }
  interface Labelled { label: String! inner: Box }
  input Point { x: Int y: Int }
  type IntBox implements Box { id: ID inner: IntBox text(a: Int, b: Point): String any: Any value: Int all: [IntBox] other: TextBox }
  type TextBox implements Box & Labelled { id: ID inner: TextBox text(a: Int, b: Point): String any: Any value: String all: TextBox other: IntBox label: String! }
  type Bag implements Labelled { inner: Box label: String! value: Int! all: [Box] other: Bag }
  union Any = IntBox | TextBox | Bag
  type Query { box: Box bag: Bag any: Any labelled: Labelled boxes: [Box] }
`);
const fieldsOf: Record<string, readonly string[]> = {
  Query: ['box', 'bag', 'any', 'labelled', 'boxes'],
  Box: ['id', 'inner', 'text', 'any'],
  Labelled: ['label', 'inner'],
  IntBox: ['id', 'inner', 'text', 'any', 'value', 'all', 'other'],
  TextBox: ['id', 'inner', 'text', 'any', 'value', 'all', 'other', 'label'],
  Bag: ['inner', 'label', 'value', 'all', 'other'],
  Any: ['__typename'],
};
const inner: Record<string, string> = { box: 'Box', bag: 'Bag', any: 'Any', labelled: 'Labelled', boxes: 'Box' };
const below = (type: string, field: string): string | undefined => {
  if (type === 'Query') return inner[field];
  if (field === 'any') return 'Any';
  if (field === 'inner') return { Box: 'Box', Labelled: 'Box', Bag: 'Box' }[type] ?? type;
  if (field === 'all') return type === 'Bag' ? 'Box' : type;
  return field === 'other' ? { IntBox: 'TextBox', TextBox: 'IntBox', Bag: 'Bag' }[type] : undefined;
};
const types = ['Box', 'Labelled', 'IntBox', 'TextBox', 'Bag', 'Any'];
const values = ['', '', '', '', '', '(a: 1)', '(a: 1, b: {x: 1, y: 2})', '(b: {y: 2, x: 1}, a: 1)'];

type Draw = <T>(from: readonly T[]) => T;

/** Few names and few types, so that much meets; a fragment spreads later ones only, and no type is asked for what it has not. */
function drawDocument(draw: Draw): string {
  const fragments = [0, 1, 2].map(() => draw(types));
  const selections = (type: string, levels: number, firstFragment: number): string => {
    const one = (): string => {
      const kind = draw(levels > 0 ? ['field', 'field', 'field', 'inline', 'plain', 'spread'] : ['field', 'spread']);
      if (kind === 'spread' && firstFragment < 3) return `...F${draw([0, 1, 2].slice(firstFragment))}`;
      if (kind === 'plain') return `... { ${selections(type, levels - 1, firstFragment)} }`;
      if (kind === 'inline') {
        const on = draw(types);
        return `... on ${on} { ${selections(on, levels - 1, firstFragment)} }`;
      }
      const name = draw(
        (fieldsOf[type] ?? []).filter((field) => levels > 0 || !below(type, field)).concat('__typename'),
      );
      const innerType = below(type, name);
      const alias = draw(['', '', '', '', '', '', `${name}2: `, 'a: ']);
      const given = name === 'text' ? draw(values) : '';
      return `${alias}${name}${given}${innerType ? ` { ${selections(innerType, levels - 1, firstFragment)} }` : ''}`;
    };
    return Array.from({ length: draw([1, 1, 2, 2, 3]) }, one).join(' ');
  };
  const defined = fragments.map((type, index) => [
    `fragment F${index} on ${type} { ${selections(type, 2, index + 1)} }`,
    // GraphQL.js looks at fragments that no operation spreads, too; a document with one is refused by another rule.
    `query Q${index} { ...F${index} }`,
  ]);
  return [`query Q { ${selections('Query', 5, 0)} }`, ...defined.flat()].join('\n');
}

function fragmentsOf({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((node) => [node.name.value, node]));
}

test(`${count} documents are in conflict with themselves when GraphQL.js says so`, () => {
  process.stdout.write(`${count} documents are drawn with SEED=${seed}\n`);
  const found = { conflicts: 0, none: 0 };

  const agree = (g: fc.GeneratorValue) => {
    const text = drawDocument((from) => g(fc.constantFrom, ...from));
    const document = parse(text);
    const theirs = validate(schema, document, [OverlappingFieldsCanBeMergedRule]);
    const ours = findConflicts(schema, document, fragmentsOf(document));
    found[ours.length > 0 ? 'conflicts' : 'none']++;
    if (ours.length > 0 !== theirs.length > 0)
      throw new Error(`${text}\n${theirs.join('\n')}\n---\n${ours.join('\n')}`);
  };
  fc.assert(fc.property(fc.gen(), agree), { numRuns: count, seed });

  expect(Math.min(found.conflicts, found.none)).toBeGreaterThan(count / 5);
});
