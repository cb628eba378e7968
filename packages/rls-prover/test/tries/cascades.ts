import { author, ownRows, type Tries, type Try } from './try.ts';

const comments = (action: string, columns = 'note_id uuid, author_id uuid not null') =>
  `create table app.comments (tenant_id uuid not null, id uuid not null, ${columns}, primary key (tenant_id, id),
     foreign key (tenant_id, note_id) references app.notes (tenant_id, id) ${action});`;
const hidden = (table: string) => `alter table ${table} enable row level security, force row level security;`;
const ofOther = `insert into app.comments (tenant_id, id, note_id, author_id) values (:A0, :A2, :A1, :A2)`;
const ofComments = { invariants: [author('app.comments')], changes: 'select * from app.comments order by id' };
const untouched = {
  name: 'authority',
  expression: 'false',
  commands: ['insert', 'update', 'delete', 'truncate'] as const,
};
const deletes = 'delete from app.notes where id = :A1';

/** An action of a foreign key changes another person's rows. */
export const within: Tries = {
  "deletes another person's comment": {
    ...{ ...ofComments, rows: ofOther, act: deletes, names: /comments/ },
    given: comments('on delete cascade') + ownRows('app.comments'),
  },
  'deletes at the second level': {
    given: `${comments('on delete cascade')} ${ownRows('app.comments')}
      create table app.likes (tenant_id uuid not null, comment_id uuid not null, author_id uuid not null, primary key (tenant_id, comment_id, author_id),
        foreign key (tenant_id, comment_id) references app.comments on delete cascade); ${ownRows('app.likes')}`,
    rows: `insert into app.comments values (:A0, :A1, :A1, :A1); insert into app.likes values (:A0, :A1, :A2)`,
    ...{ invariants: [author('app.likes')], act: deletes, changes: 'select * from app.likes', names: /likes/ },
  },
  "sets another person's reference to null": {
    ...{ ...ofComments, rows: ofOther, act: deletes, names: /comments/ },
    given: comments('on delete set null (note_id)') + ownRows('app.comments'),
  },
  "deletes another person's answer in the same table": {
    given: `alter table app.notes add column parent_id uuid, add foreign key (tenant_id, parent_id) references app.notes on delete cascade;`,
    rows: 'update app.notes set parent_id = :A1 where id = :A2',
    ...{ act: deletes, changes: 'select id from app.notes order by id', names: /app\.notes/ },
  },
  'deletes a right that no client may change': {
    given: comments('on delete cascade') + hidden('app.comments'),
    ...{ rows: ofOther, invariants: [{ ...untouched, relation: 'app.comments' }], act: deletes },
    ...{ changes: 'select * from app.comments', names: /comments/ },
  },
  "changes another person's reference by an update": {
    ...{ ...ofComments, rows: ofOther, names: /comments/ },
    given: comments('on update cascade') + ownRows('app.comments'),
    act: 'update app.notes set id = gen_random_uuid() where id = :A1',
  },
  'deletes by way of a view': {
    ...{ ...ofComments, rows: ofOther, names: /comments/ },
    given: `${comments('on delete cascade')} ${ownRows('app.comments')} create view app.mine with (security_invoker) as select * from app.notes;
      grant select, delete on app.mine to member; revoke delete on app.notes from member; grant delete on app.notes to member;`,
    act: 'delete from app.mine where id = :A1',
  },
  'deletes in a partition': {
    given: `create table app.comments (tenant_id uuid not null, id uuid not null, note_id uuid, author_id uuid not null, primary key (tenant_id, id),
        foreign key (tenant_id, note_id) references app.notes on delete cascade) partition by hash (tenant_id);
      create table app.comments_0 partition of app.comments for values with (modulus 1, remainder 0); ${hidden('app.comments_0')} ${ownRows('app.comments')}`,
    ...{ ...ofComments, rows: ofOther, act: deletes, names: /comments/ },
  },
};

const moved: Pick<Try, 'changes' | 'names'> = { changes: 'select * from app.comments order by id', names: /comments/ };
const moving = (defaults: string, action: string) =>
  `create table app.comments (tenant_id uuid ${defaults}, id uuid primary key, note_id uuid, author_id uuid not null,
     foreign key (tenant_id, note_id) references app.notes (tenant_id, id) ${action}); ${ownRows('app.comments')}`;
const own = 'insert into app.comments values (:A0, :A1, :A1, :A1)';

/** An action of a foreign key carries a row to another tenant. */
export const across: Tries = {
  'deletes and sets a default': {
    given: moving('not null default :B0', 'on delete set default'),
    ...{ ...moved, rows: own, act: deletes },
  },
  'deletes and sets one column to its default': {
    given: moving('not null default :B0', 'on delete set default (tenant_id, note_id)'),
    ...{ ...moved, rows: own, act: deletes },
  },
  'deletes and sets the default of a function': {
    given: `create function app.other() returns uuid language sql immutable as $$ select :B0::uuid $$; grant execute on function app.other() to member;
      ${moving('not null default app.other()', 'on delete set default')}`,
    ...{ ...moved, rows: own, act: deletes },
  },
  'updates and sets a default': {
    given: moving('not null default :B0', 'on update set default'),
    ...{ ...moved, rows: own, act: 'update app.notes set id = gen_random_uuid() where id = :A1' },
  },
  'sets the tenant to null': {
    given: moving('', 'on delete set null'),
    ...{ ...moved, rows: own, act: deletes },
  },
  'updates and sets the tenant to null': {
    given: moving('', 'on update set null'),
    ...{ ...moved, rows: own, act: 'update app.notes set id = gen_random_uuid() where id = :A1' },
  },
  'carries the key of an update along': {
    given: `create table app.labels (tenant_id uuid not null, author_id uuid not null, place uuid unique); ${ownRows('app.labels')}
      create table app.comments (tenant_id uuid not null, id uuid primary key, author_id uuid not null, place uuid references app.labels (place) on update cascade);
      ${ownRows('app.comments')}`,
    rows: 'insert into app.labels values (:A0, :A1, :A1); insert into app.comments values (:A0, :A2, :A2, :A1)',
    act: 'update app.labels set place = :B0',
    ...{ ...moved, invariants: [author('app.comments'), author('app.labels')] },
  },
};
