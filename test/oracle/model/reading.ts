import type { Operation } from './document.ts';
import { idOf } from './ids.ts';
import type { Caller, State } from './state.ts';

const people = 'id createdAt updatedAt fullName email locale timeZone externalIdentifier';
const assignments = 'cardAssignments { id createdAt user { id } card { id } }';
const grants =
  'accessGrants(first: 1000) { totalCount nodes { id createdAt source validFrom validUntil user { id } unit { id } } }';
/** What is in front of a page, and is none of the rows, would shorten it. */
const page = 'page: accessibleUnits(first: 2) { nodes { id } pageInfo { hasNextPage } }';
const unit = `id createdAt updatedAt name externalIdentifier parent { id } children { nodes { id } } ${grants} usersWithAccess { totalCount nodes { id } }`;
const card = `id createdAt updatedAt name externalIdentifier ... on BeaconCard { proximityUuid major minor } ... on NfcCard { nfcIdentifier } ${assignments}`;
const user = `${people} ${assignments} ${grants} accessibleUnits(first: 1000) { totalCount nodes { id } } ${page}`;

const ofApplication = `{ app {
  users(first: 1000) { totalCount nodes { ${user} externalAuthenticationToken } }
  units(first: 1000) { totalCount nodes { ${unit} } }
  rootUnits(first: 1000) { nodes { id } }
  cards(first: 1000) { totalCount nodes { ${card} } }
  cardAssignments(first: 1000) { totalCount nodes { id } }
  accessGrants(first: 1000) { totalCount nodes { id } }
  webhooks { totalCount nodes { id createdAt url typeNames enabled } } } }`;

const ofPerson = `{ viewer { ${people} ${grants}
  cardAssignments { id createdAt user { id } card { ${card} } }
  accessibleUnits(first: 1000) { totalCount nodes { ${unit} } } ${page} } }`;

/** A query for all that a caller may read. */
export const readingOf = ({ scope }: Caller): Operation => ({
  query: scope === 'app' ? ofApplication : ofPerson,
  variables: {},
});

const nodes = 20;
const listed = Array.from({ length: nodes }, (_, index) => `n${index}: node(id: $i${index}) { __typename id }`).join(
  ' ',
);
const declared = Array.from({ length: nodes }, (_, index) => `$i${index}: ID!`).join(', ');

/** Queries for objects of both organizations by their ids, each 20 (a limit) of those that the number says. */
export function nodesOf({ rows }: State, number: number): Operation {
  const ids = [
    ...rows.users.map((row) => idOf('User', row)),
    ...rows.units.map((row) => idOf('Unit', row)),
    ...rows.cards.map((row) => idOf('Card', row)),
    ...rows.cardAssignments.map((row) => idOf('CardAssignment', row)),
    ...rows.accessGrants.map((row) => idOf('AccessGrant', row)),
  ];
  const pages = Math.ceil(ids.length / nodes);
  const chosen = ids.filter((_, index) => index % pages === number % pages);
  return {
    query: `query (${declared}) { ${listed} }`,
    variables: Object.fromEntries(Array.from({ length: nodes }, (_, index) => [`i${index}`, chosen[index] ?? ''])),
  };
}
