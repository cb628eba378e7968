import { getIntrospectionQuery } from 'postgraphile/graphql';

/**
 * Documents as large as the limits allow, or refused late, by what is worst about them. Each is written anew for every number,
 * so that none is served from a cache.
 */
export const worstDocuments: Readonly<Record<string, (number: number) => string>> = {
  '100 levels of nodes': (n) => onUnits(n, levels(100, 'nodes { # }')),
  '100 levels of edges': (n) => onUnits(n, levels(100, 'edges { node { # } }')),
  '100 levels and all about each': (n) =>
    onUnits(n, levels(100, 'totalCount pageInfo { hasNextPage } nodes { id externalIdentifier # }')),
  '1,000 fields, 100 connections, 20 root fields': (n) => `query Q${n} { ${some(20, fiftyFields)} }`,
  '110 connections below each other': (n) => onUnits(n, levels(110, 'nodes { id # }')),
  '10,000 rows': (n) => `query Q${n} { app { ${some(10, users)} } }`,
  '1,000 rows, each with a token and a card': (n) =>
    `query Q${n} { app { users(first: 1000) { edges { cursor node { ${person} cardAssignments { id card { id name } } } } } } }`,
  '20,000 rows, were they allowed': (n) =>
    onUnits(n, 'id children { nodes { id name children { nodes { id name } } } }'),
  '306 parents in a row': (n) => onUnits(n, `${'name parent { '.repeat(306)}id${' }'.repeat(306)}`),
  'up and down the tree': (n) => onUnits(n, `children { nodes { ${upAndDown('children', 70)} } }`),
  'up and down the tree, one unit at a time': (n) =>
    onUnits(n, `children(first: 1) { nodes { ${upAndDown('children(first: 1)', 70)} } }`),
  'introspection as GraphQL.js does it': (n) => getIntrospectionQuery().replace('IntrospectionQuery', `Q${n}`),
  'introspection, all types and their fields 10 times': (n) =>
    `query Q${n} { ${some(10, (i) => `a${i}: __schema { types { ${typesOfFields} } }`)} }`,
  '4,000 values': (n) => `query Q${n} { app { ${some(4, usersByIdentifier)} } }`,
  '1,000 operations': (n) => some(1000, (i) => `query Q${n}_${i} { __typename }`),
  '1,240 variables that are not used': (n) => `query Q${n}(${some(1240, (i) => `$v${i}: Int`)}) { __typename }`,
  '490 times the same field': (n) =>
    onUnits(
      n,
      some(490, () => 'parent { name }'),
    ),
  'the same field twice, eight times over': (n) => onUnits(n, twice(8)),
  'the same field in 330 fragments': (n) =>
    `${onUnits(
      n,
      some(330, (i) => `...F${i}`),
    )} ${some(330, (i) => `fragment F${i} on Unit { parent { name } }`)}`,
  '450 fragments in each other': (n) =>
    `${onUnits(n, '...F0')} ${some(449, (i) => `fragment F${i} on Unit { name ...F${i + 1} }`)} fragment F449 on Unit { id }`,
  '100 fields in conflict': (n) => onUnits(n, some(100, conflicting)),
  '100 fragments in conflict': (n) =>
    `${onUnits(
      n,
      some(100, (i) => `...F${i}`),
    )} ${some(100, (i) => `fragment F${i} on Unit { ${conflicting(i)} }`)}`,
};

export const some = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => write(index)).join(' ');

const onUnits = (number: number, selection: string) =>
  `query Q${number} { app { rootUnits { nodes { ${selection} } } } }`;

/** This many units below each other; # stands in the form for what is selected below. */
function levels(count: number, form: string): string {
  return count > 1 ? `name children { ${form.replace('#', levels(count - 1, form))} }` : 'name';
}

const person = 'id fullName email locale timeZone externalIdentifier externalAuthenticationToken';
const users = (number: number) => `a${number}: users(first: 1000) { edges { cursor node { ${person} } } }`;
const usersByIdentifier = (number: number) =>
  `a${number}: users(externalIdentifiers: [${some(990, (index) => `"user-${index}"`)}]) { nodes { id } }`;

function fiftyFields(number: number): string {
  const page = (name: string, fields: string) =>
    `${name}(first: 1) { totalCount pageInfo { hasNextPage } nodes { ${fields} } }`;
  const unit = 'id name externalIdentifier';
  const children = page(
    'children',
    `${unit} ${page('children', `${unit} parent { id } ${page('children', `${unit} parent { id }`)}`)}`,
  );
  const people = page('users', 'id fullName email locale timeZone externalIdentifier cardAssignments { id }');
  return `a${number}: app { ${people} ${page('rootUnits', `${unit} ${children}`)} }`;
}

function upAndDown(children: string, times: number): string {
  return times > 0 ? `parent { ${children} { nodes { id ${upAndDown(children, times - 1)} } } }` : 'name';
}

const twice = (times: number): string =>
  times > 0 ? `parent { ${twice(times - 1)} } parent { ${twice(times - 1)} }` : 'id';
const conflicting = (number: number) => `children(first: ${number}) { nodes { id name parent { id name } } }`;

const typeOf = 'type { kind name ofType { name ofType { name ofType { name } } } }';
const fieldsOfType = `kind name fields { name description args { name ${typeOf} } ${typeOf} } enumValues { name }`;
const typesOfFields = `name fields { name type { ${fieldsOfType} ofType { ${fieldsOfType} ofType { ofType { ${fieldsOfType} } } } } }`;
