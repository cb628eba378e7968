import type { OwnGraphTest } from '../graphql/support.ts';

/** A table of its own: what a team's first migration would have, by the guide. */
export const doors = `
  create table app_public.doors (
    organization_id uuid not null default app_hidden.current_organization_id(),
    id uuid not null default app_hidden.uuid_v7(),
    unit_id uuid not null,
    name text not null,
    note text,
    tags text[] not null default '{}',
    constraint doors_pkey primary key (organization_id, id),
    constraint doors_unit_id_fkey foreign key (organization_id, unit_id) references app_public.units,
    constraint doors_unit_id_name_key unique (organization_id, unit_id, name),
    constraint doors_name_text check (app_hidden.is_text(name))
  );
  create index doors_unit_id_idx on app_public.doors (organization_id, unit_id, id);
  create index doors_name_idx on app_public.doors (organization_id, name, id);
  comment on constraint doors_unit_id_fkey on app_public.doors is E'@fieldName unit\\n@foreignFieldName doors';
  alter table app_public.doors enable row level security, force row level security;
  create policy all_graph_app on app_public.doors for all to graph_app
    using (organization_id = (select app_hidden.current_organization_id()))
    with check (organization_id = (select app_hidden.current_organization_id()));
  grant select, insert, update, delete on app_public.doors to graph_app;
  grant select on app_public.doors to graph_user;`;

/** A function in app_public that an application may call, and its comment. */
export const define = (signature: string, rest: string, comment: string): string => {
  const name = signature.slice(0, signature.indexOf('('));
  return `create function app_public.${signature} ${rest};
    comment on function app_public.${name} is ${literal(comment)};
    grant execute on function app_public.${name} to graph_app;`;
};

export const sqlBody = (body: string, volatility = 'volatile') =>
  `language sql ${volatility} set search_path = pg_catalog, pg_temp as $$ ${body} $$`;

export const literal = (text: string) => `E'${text.replaceAll("'", "''").replaceAll('\n', '\\n')}'`;

/** Changes the catalogue for as long as the work takes. */
export async function withSchema<T>(
  graph: OwnGraphTest,
  sql: string,
  undo: string,
  work: () => Promise<T>,
): Promise<T> {
  const { owner } = graph.database;
  await owner.query(sql);
  try {
    return await work();
  } finally {
    await owner.query(undo);
  }
}
