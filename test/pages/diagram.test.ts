import { buildSchema } from 'postgraphile/graphql';
import { domainTypesOf, groupMutations } from '../../src/pages/documentation/domain.ts';
import { renderDiagram } from '../../src/pages/documentation/startPage.ts';

// What a later migration may add: an interface with two types, a table that refers to itself, and two with many references.
const schema = buildSchema(`
  interface Node { id: ID! }
  type Query { node(id: ID!): Node  app: App }
  type App { users: UserConnection!  doors: DoorConnection! }
  type UserConnection { nodes: [User!]!  totalCount: Int! }
  type DoorConnection { nodes: [Door!]!  totalCount: Int! }
  type User implements Node { id: ID!  fullName: String!  doors: DoorConnection!  visits: [Visit!]! }
  type Door implements Node { id: ID!  name: String!  above: Door  below: DoorConnection!  keeper: User  sensor: Sensor  visits: [Visit!]! }
  type Visit implements Node { id: ID!  at: String!  user: User!  guest: User  door: Door! }
  interface Sensor implements Node { id: ID!  name: String!  door: Door }
  type Camera implements Sensor & Node { id: ID!  name: String!  door: Door  lens: String! }
  type Scale implements Sensor & Node { id: ID!  name: String!  door: Door  a: Int  b: Int  c: Int  d: Int  e: Int  f: Int  g: Int  h: Int }
  type Report { user: User  rows: Int }
  type Mutation {
    doorCreate: DoorCreatePayload  cameraCreate: CameraCreatePayload  visitsDelete: VisitsDeletePayload
    usersImport: UsersImportPayload  tidy: TidyPayload
  }
  type DoorCreatePayload { door: Door }  type CameraCreatePayload { sensor: Camera }
  type VisitsDeletePayload { results: [Deleted!]! }  type Deleted { id: ID }
  type UsersImportPayload { results: [Imported!]! }  type Imported { outcome: String!  user: User }
  type TidyPayload { ok: Boolean! }
`);

const svg = renderDiagram(schema, (type) => `/documents/${type}`).markup;

type Box = { name: string; left: number; top: number; right: number; bottom: number };
const boxes = Array.from(
  svg.matchAll(
    /<g transform="translate\(([\d.-]+) ([\d.-]+)\)">\s*<a href="\/documents\/(\w+)"><rect class="box" width="([\d.]+)" height="([\d.]+)"/g,
  ),
  ([, x, y, name = '', width, height]): Box => {
    const [left, top] = [Number(x), Number(y)];
    return { name, left, top, right: left + Number(width), bottom: top + Number(height) };
  },
);
const labels = Array.from(
  svg.matchAll(/<text class="label" x="([\d.-]+)" y="([\d.-]+)">([^<]+)</g),
  ([, x, y, text = '']): Box => {
    const half = (text.length * 7.2) / 2;
    return { name: text, left: Number(x) - half, right: Number(x) + half, top: Number(y) - 10, bottom: Number(y) + 3 };
  },
);
const overlap = (one: Box, other: Box) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

test('the drawing has each type that is a row, and no other', () => {
  const names = ['Camera', 'Door', 'Scale', 'Sensor', 'User', 'Visit'];
  expect(
    domainTypesOf(schema)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(names);
  expect(boxes.map(({ name }) => name).toSorted()).toEqual(names);
});

test('no box and no name of a field covers another, and all are within the drawing', () => {
  const all = [...boxes, ...labels];
  const covered = all.flatMap((one, index) =>
    all.slice(index + 1).flatMap((other) => (overlap(one, other) ? [`${one.name} ${other.name}`] : [])),
  );
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)?.map(Number) ?? [];

  expect(labels.length).toBeGreaterThan(8);
  expect(covered).toEqual([]);
  for (const { name, left, top, right, bottom } of all)
    expect([name, left >= 0, top >= 0, right <= (width ?? 0), bottom <= (height ?? 0)]).toEqual([
      name,
      ...Array(4).fill(true),
    ]);
});

test('each field that leads to a row is named once, with who has it; what an interface has is told there', () => {
  const named = labels.map(({ name }) => name.replaceAll(/[←→ ]/g, '')).toSorted();
  expect(named).toEqual(['door', 'door', 'doors', 'guest', 'keeper', 'sensor', 'user', 'visits', 'visits'].toSorted());
  const placeOf = (wanted: string) => boxes.find(({ name }) => name === wanted)?.left ?? 0;
  // The arrow points away from who has the field.
  const arrow = labels.find(({ name }) => name.includes('guest'))?.name;
  expect(arrow).toBe(placeOf('Visit') < placeOf('User') ? 'guest →' : '← guest');
});

test('the ends of lines say one, many, or that it is an interface', () => {
  const ends = Array.from(svg.matchAll(/<path class="line"[^>]*>/g), ([line]) =>
    Array.from(line.matchAll(/marker-(start|end)="url\(#end-(\w+)\)"/g), ([, side, end]) => `${side} ${end}`).join(
      ', ',
    ),
  );
  expect(ends.filter((it) => it.includes('interface'))).toHaveLength(2);
  expect(ends.filter((it) => it === 'start one, end many')).toHaveLength(3);
});

test('a box has few fields; a long one says how many it leaves out', () => {
  const leaves = Array.from(svg.matchAll(/<text class="leaf"[^>]*>([^<]+)</g), ([, text]) => text);
  expect(leaves).toEqual(expect.arrayContaining(['fullName', 'lens', '… 2 more', '↻ above', '↻ below']));
  expect(leaves).not.toContain('id');
});

test('mutations are grouped by the row that they return, else by their names', () => {
  const groups = groupMutations(schema).map(({ subject, mutations }) => [
    subject?.name,
    ...mutations.map(({ name }) => name),
  ]);
  expect(groups).toEqual([
    ['User', 'usersImport'],
    ['Door', 'doorCreate'],
    ['Sensor', 'cameraCreate'],
    ['Visit', 'visitsDelete'],
    [undefined, 'tidy'],
  ]);
});
