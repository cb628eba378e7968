import type { Catalogue } from '../catalogue.ts';
import type { Invariant } from '../interface.ts';
import type { StatedClaims } from '../presets/preset.ts';
import { privileges } from './inventValue.ts';
import { type Ownership, quoted } from './ownership.ts';
import type { Table } from './readTables.ts';

/**
 * States for each table what its developer most likely means, by keys, names and foreign keys. The README describes each invariant.
 *
 * @param roles those of clients who are signed in, and those of clients who are not
 */
export function stateDefaults(
  tables: readonly Table[],
  catalogue: Catalogue,
  ownership: Ownership,
  roles: { signedIn: readonly string[]; anonymous: readonly string[] },
  tenant: StatedClaims['tenant'],
): Invariant[] {
  const commands = ['select', 'insert', 'update', 'delete'] as const;
  const anonymous: Invariant[] =
    roles.anonymous.length > 0 ? [{ name: 'anonymous', expression: 'false', commands, roles: roles.anonymous }] : [];
  if (roles.signedIn.length === 0) return anonymous;
  const stated = tables.flatMap((table): Invariant[] => [
    ...ownOf(table, ownership),
    ...tenantOf(table, tenant, tables),
    ...authorOf(table, ownership),
    ...joinOf(table, ownership),
    ...escalationOf(table, ownership),
  ]);
  return [
    ...anonymous,
    ...[...stated, ...viewsOf(catalogue, tables, ownership)].map((one) => ({ ...one, roles: roles.signedIn })),
  ];
}

/** `own`: a client sees and changes only rows that something connects with it. No client changes a row that belongs to no one. */
function ownOf(table: Table, ownership: Ownership): Invariant[] {
  const [old, updated] = [ownership.connection(table, 'old'), ownership.connection(table, 'new')];
  const own = { name: 'own', relation: table.name };
  if (!old || !updated) return [{ ...own, expression: 'false', commands: ['insert', 'update', 'delete'] }];
  // A client that makes a group is connected with it only afterwards.
  const isMade = ownership.isGroup(table) && ownership.owners(table).length === 0;
  return [
    { ...own, expression: old, commands: ['select', 'delete'] },
    { ...own, expression: `(${old}) and (${updated})`, commands: ['update'] },
    ...(isMade ? [] : [{ ...own, expression: updated, commands: ['insert'] as const }]),
  ];
}

/** `tenant`: a client sees and changes only rows of the tenant that its claims name. */
function tenantOf(
  { name: relation, columns, primaryKey }: Table,
  tenant: StatedClaims['tenant'],
  tables: readonly Table[],
): Invariant[] {
  if (!tenant) return [];
  const isReferred = tables.some(({ foreignKeys }) =>
    foreignKeys.some(({ references, columns: [own] }) => references === relation && own === tenant.column),
  );
  const column =
    columns.find(({ name }) => name === tenant.column) ??
    (isReferred ? columns.find(({ name }) => name === primaryKey[0]) : undefined);
  if (!column) return [];
  const of = (row: string) => `${row}.${quoted(column.name)} = (${tenant.expression})::${column.type}`;
  const commands = ['select', 'insert', 'update', 'delete'] as const;
  return [{ name: 'tenant', relation, expression: `${of('old')} and ${of('new')}`, commands }];
}

/** `author`: no client writes a row in the name of another person. */
function authorOf(table: Table, ownership: Ownership): Invariant[] {
  const owners = ownership.owners(table);
  if (owners.length === 0 || ownership.membershipIn(table)) return [];
  const columns = owners.map(({ name }) => name);
  const isClient = owners.map(({ name, type }) => `new.${quoted(name)} = ${ownership.user(type)}`);
  const isKept = columns.map((name) => `new.${quoted(name)} is not distinct from old.${quoted(name)}`).join(' and ');
  return [
    { name: 'author', relation: table.name, expression: isClient.join(' or '), commands: ['insert'] },
    {
      name: 'author',
      relation: table.name,
      expression: `${isClient.join(' or ')} or (${isKept})`,
      commands: ['update'],
      columns,
    },
  ];
}

/** `join`: only a group's members, and who owns it, add members to it. */
function joinOf(table: Table, ownership: Ownership): Invariant[] {
  const membership = ownership.membershipIn(table);
  if (!membership) return [];
  const { group, person } = membership;
  const { type = '' } = table.columns.find(({ name }) => name === person) ?? {};
  const same = (alias: string, row: string) =>
    group.columns.map((name) => `${alias}.${quoted(name)} = ${row}.${quoted(name)}`).join(' and ');
  const isMember = `exists (select from ${table.name} m where ${same('m', 'new')} and m.${quoted(person)} = ${ownership.user(type)})`;
  const isOwner = ownership.ownerOfReferred(group, 'new');
  const mayJoin = [isMember, ...(isOwner ? [isOwner] : [])].join(' or ');
  const isKept = same('old', 'new');
  return [
    { name: 'join', relation: table.name, expression: mayJoin, commands: ['insert'] },
    {
      name: 'join',
      relation: table.name,
      expression: `(${isKept}) or ${mayJoin}`,
      commands: ['update'],
      columns: group.columns,
    },
  ];
}

/** `escalation`: no client changes a column of their own row that grants privileges. */
function escalationOf(table: Table, ownership: Ownership): Invariant[] {
  const owners = ownership.owners(table);
  const columns = table.columns.filter(({ name }) => privileges.test(name)).map(({ name }) => name);
  if (owners.length === 0 || columns.length === 0) return [];
  const isKept = columns.map((name) => `new.${quoted(name)} is not distinct from old.${quoted(name)}`).join(' and ');
  const isOther = owners.map(({ name, type }) => `old.${quoted(name)} is distinct from ${ownership.user(type)}`);
  return [
    {
      name: 'escalation',
      relation: table.name,
      expression: `(${isKept}) or (${isOther.join(' and ')})`,
      commands: ['update'],
      columns,
    },
  ];
}

/** `own` of a view that shows the id of its rows' owner, by the name that the column has in a table that the view reads. */
function viewsOf({ relations }: Catalogue, tables: readonly Table[], ownership: Ownership): Invariant[] {
  return [...relations.values()].flatMap((view): Invariant[] => {
    if (view.kind !== 'view' || !view.definition) return [];
    const { definition } = view;
    const owners = tables
      .filter(({ name }) => new RegExp(`\\b(FROM|JOIN) \\(*${name.replaceAll('.', '\\.')}\\b`).test(definition))
      .flatMap((table) => ownership.owners(table))
      .filter(({ name }) => view.columns.some((column) => column.name === name));
    const own = [...new Set(owners.map(({ name, type }) => `old.${quoted(name)} = ${ownership.user(type)}`))];
    return own.length > 0
      ? [{ name: 'own', relation: view.name, expression: own.join(' or '), commands: ['select'] }]
      : [];
  });
}

/** The meaning of each invariant, for the reader of the table of judgements. */
export const meanings: readonly (readonly [name: string, meaning: string])[] = [
  ['anonymous', 'who is not signed in sees and changes nothing.'],
  [
    'own',
    'a client sees and changes only rows that something connects with it; what belongs to nobody, nobody changes.',
  ],
  ['tenant', 'a client sees and changes only rows of the tenant that its claims name.'],
  ['author', 'nobody writes a row in the name of somebody else.'],
  ['join', 'only members of a group, and who owns it, add members to it.'],
  ['escalation', 'nobody changes a column of their own row that says what they may, such as a role or a plan.'],
];
