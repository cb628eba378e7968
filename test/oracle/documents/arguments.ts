import type { GraphQLArgument, GraphQLField } from 'graphql';
import { signatureOf } from '../orders.ts';
import type { Random } from '../random.ts';
import { listOf } from '../refusals.ts';
import { learnedOrders } from '../world/learn.ts';
import { decisionArguments, drawDecisionArguments } from './decisions.ts';
import { drawBeacon, drawEmail, drawExternalIdentifier, drawId, drawNfcIdentifier, type Known } from './known.ts';
import { type DrawnVariables, enumValue, listValue, plainValue, textValue, type Value } from './variables.ts';

export type Drawing = { readonly random: Random; readonly known: Known; readonly variables: DrawnVariables };

/** How often an argument is given. */
const shares: Readonly<Record<string, number>> = {
  first: 0.35,
  last: 0.12,
  orderBy: 0.35,
  after: 0.12,
  before: 0.1,
  ids: 0.1,
  externalIdentifiers: 0.1,
  emails: 0.15,
  nfcIdentifiers: 0.15,
  beacons: 0.15,
};

/** Those that documents are drawn with. */
export const drawnArguments: ReadonlySet<string> = new Set([...Object.keys(shares), ...decisionArguments, 'id']);

/** `(first: 2, orderBy: $v1)`, or nothing; few are such that the document is refused. */
export function drawArguments(field: GraphQLField<unknown, unknown>, drawing: Drawing): string {
  const { random, known } = drawing;
  if (field.args.length === 0) return '';
  if (field.name === 'accessDecision') return drawDecisionArguments(drawing);

  const given = new Set(field.args.map(({ name }) => name).filter((name) => random.chance(shares[name] ?? 0.2)));
  if (given.has('first') && given.has('last') && random.chance(0.97)) given.delete(random.pick(['first', 'last']));
  const list = listOf(field);
  const orders = learnedOrders[list] ?? [['PRIMARY_KEY_ASC']];
  const orderBy = given.has('orderBy') ? random.pick(orders) : [];
  const signature = signatureOf(orderBy);
  if (known.cursors(list, signature).flat().length === 0 && random.chance(0.97)) {
    given.delete('after');
    given.delete('before');
  }
  const hasCursor = given.has('after') || given.has('before');
  const draws: Readonly<Record<string, () => Value>> = {
    first: () => drawSize(random),
    last: () => drawSize(random),
    // Cursors go with each order of the signature, so that variables may have any of them.
    orderBy: () => drawOrder(random, hasCursor ? orders.filter((one) => signatureOf(one) === signature) : orders),
    after: () => drawCursor(drawing, list, signature),
    before: () => drawCursor(drawing, list, signature),
    ids: () => drawList(random, () => textValue(drawId(random, known, list, 0.01))),
    externalIdentifiers: () => drawList(random, () => textValue(drawExternalIdentifier(random, known))),
    emails: () => drawList(random, () => textValue(drawEmail(random, known))),
    nfcIdentifiers: () => drawList(random, () => textValue(drawNfcIdentifier(random, known))),
    beacons: () => drawList(random, () => drawBeacon(random, known)),
  };
  const texts = field.args
    .filter(({ name }) => given.has(name))
    .map((argument) => {
      const draw = draws[argument.name];
      if (!draw) throw new Error(`The oracle draws no ${argument.name}.`);
      const isBound = hasCursor && ['orderBy', 'after', 'before'].includes(argument.name);
      const use = [argument.name === 'before' ? 'after' : argument.name, list, ...(isBound ? [signature] : [])].join(
        ' ',
      );
      const mayBeNull = !(argument.name === 'orderBy' && hasCursor && signature !== signatureOf([]));
      return `${argument.name}: ${drawValue(argument, use, draw, drawing, mayBeNull)}`;
    });
  return texts.length === 0 ? '' : `(${texts.join(', ')})`;
}

/** `(id: $v0)` of `node`, mostly of one type. */
export function drawNodeArgument({ random, known, variables }: Drawing, type: string): string {
  const draw = () => textValue(drawId(random, known, type, 0.04));
  return `(id: ${random.chance(0.6) ? variables.take('ID!', `node ${type}`, draw, false) : draw().literal})`;
}

/** A literal, a variable, a list with a variable in it, a list's only item without brackets, or null. */
function drawValue(
  argument: GraphQLArgument,
  use: string,
  draw: () => Value,
  { random, variables }: Drawing,
  mayBeNull: boolean,
): string {
  const type = String(argument.type);
  const lists = type.startsWith('[') ? 1 : 0;
  switch (random.weighted({ literal: 5, variable: 4, within: lists, single: lists / 2, null: mayBeNull ? 0.2 : 0 })) {
    case 'variable':
      return variables.take(mayBeNull && random.chance(0.8) ? type : `${type}!`, use, draw, mayBeNull);
    case 'within': {
      const other = draw().items?.[0];
      const drawItem = () => draw().items?.[0] ?? other;
      if (other === undefined) return draw().literal;
      const item = variables.take(type.slice(1, -1), `${use} item`, () => drawItem() ?? other, false);
      return random.pick([`[${item}]`, `[${item}, ${other.literal}]`, item]);
    }
    case 'single':
      return draw().items?.[0]?.literal ?? '[]';
    case 'null':
      return 'null';
    default:
      return draw().literal;
  }
}

const drawSize = (random: Random): Value =>
  plainValue(
    random.chance(0.985) ? random.pick([0, 1, 1, 2, 2, 3, 4, 7, 20, 100, 1000]) : random.pick([-1, 1001, 2 ** 31 - 1]),
  );

const drawList = (random: Random, draw: () => Value): Value =>
  listValue(Array.from({ length: random.pick([0, 1, 1, 2, 3, 6]) }, draw));

/** One of the orders, with its directions drawn anew. */
function drawOrder(random: Random, orders: readonly (readonly string[])[]): Value {
  const turned = random.pick(orders).map((name) => name.replace(/(ASC|DESC)$/, () => random.pick(['ASC', 'DESC'])));
  return listValue((turned.join() === 'PRIMARY_KEY_ASC' && random.chance(0.3) ? [] : turned).map(enumValue));
}

function drawCursor({ random, known }: Drawing, list: string, signature: string): Value {
  if (random.chance(0.01)) return textValue(random.pick(['', 'x', 'WyJ4Il0=', 'null']));
  const any = random.chance(0.01) ? known.anyCursors() : [];
  const [own, neighbours] = known.cursors(list, signature);
  const fitting = random.chance(0.9) ? own : neighbours;
  // A list that nobody has has no cursors.
  return textValue(random.pickOr(any, null) ?? random.pickOr(fitting ?? [], null) ?? random.pickOr(own ?? [], 'x'));
}
