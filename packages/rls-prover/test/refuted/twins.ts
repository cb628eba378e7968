import { guarded, type Twin } from './support.ts';

/** Right schemas, each next to a wrong one. That one is not proven is no fault, but a false alarm. */
export const twins: readonly Twin[] = [
  {
    title: 'nothing but a table under a policy',
    schema: '',
    client: ['table app.notes', "update app.notes set body = 'mine'", 'delete from app.notes'],
    isProven: true,
  },
  {
    title: 'a default, a check and a condition of a trigger that only compute',
    schema: `create table app.events (tenant_id int not null, id int primary key, mark text default upper('x') check (length(mark) > 0));
      ${guarded('app.events')}
      create function app.nothing() returns trigger language plpgsql as $$ begin return new; end $$;
      create trigger mark before insert on app.events for each row when (new.mark is not null) execute function app.nothing()`,
    client: ['insert into app.events (tenant_id, id) values (1, 1)', 'table app.notes'],
    isProven: true,
  },
];
