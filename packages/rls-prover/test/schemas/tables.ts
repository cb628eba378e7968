import fc from 'fast-check';
import { conditions, mine, tenant } from './conditions.ts';

/** Mostly right: of a schema with many holes, little is proven, and a proof is what rows are to refute. */
export const mostly = (usual: string, ...others: string[]) =>
  fc.oneof(
    { weight: 16, arbitrary: fc.constant(usual) },
    { weight: others.length, arbitrary: fc.constantFrom(...others) },
  );

const actions = mostly('no action', 'cascade', 'set null', 'set default', 'set null (note_id)');

/** A table whose rows refer to notes, perhaps with a child or as one, under policies that are drawn. */
export const tables = fc
  .record({
    onDelete: actions,
    onUpdate: mostly('no action', 'cascade', 'set null', 'set default'),
    key: fc.constantFrom('(tenant_id, note_id)', '(tenant_id, note_id)', '(note_id)'),
    using: conditions,
    check: fc.option(conditions, { nil: undefined }),
    isRestricted: fc.boolean(),
    fallback: mostly('', 'default :B0', 'default :A0'),
    kind: mostly('', 'inherits', 'parent', 'unforced', 'off'),
    collation: mostly('', 'collate app.folded'),
  })
  .map(({ onDelete, onUpdate, key, using, check, isRestricted, fallback, kind, collation }) => [
    ...(collation
      ? [`create collation app.folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`]
      : []),
    ...(key === '(note_id)' ? ['alter table app.notes add unique (id)'] : []),
    `create table app.items (tenant_id uuid not null ${fallback}, id uuid not null, author_id uuid not null, note_id uuid, body text ${collation}, pair app.pair, primary key (tenant_id, id))`,
    ...(kind === 'parent'
      ? [
          'create table app.notices (extra int) inherits (app.items)',
          'alter table app.notices enable row level security, force row level security',
        ]
      : []),
    ...(kind === 'inherits'
      ? [
          'create table app.base (tenant_id uuid not null, id uuid not null)',
          'alter table app.items inherit app.base',
          'alter table app.base enable row level security, force row level security',
          `create policy p on app.base to member using (${tenant})`,
          'grant select, delete on app.base to member',
        ]
      : []),
    `alter table app.items add foreign key ${key} references app.notes ${key === '(note_id)' ? '(id)' : '(tenant_id, id)'} on delete ${key === '(note_id)' || !onDelete.includes('(') ? onDelete.replace(/ \(.*/, '') : onDelete} on update ${onUpdate}`,
    ...(kind === 'off' ? [] : ['alter table app.items enable row level security']),
    ...(kind === 'off' || kind === 'unforced' ? [] : ['alter table app.items force row level security']),
    `create policy drawn on app.items to member using (${using})${check ? ` with check (${check})` : ''}`,
    ...(isRestricted ? [`create policy narrow on app.items as restrictive to member using (${mine})`] : []),
  ]);

/** Rights on the table, of columns or of all. */
export const rights: fc.Arbitrary<readonly string[]> = fc
  .record({
    commands: fc.subarray(['select', 'insert', 'update', 'delete', 'update (body)', 'update (author_id)'], {
      minLength: 1,
    }),
    truncate: mostly('', ', truncate'),
  })
  .map(({ commands, truncate }) => [`grant ${commands.join(', ')}${truncate} on app.items to member`]);
