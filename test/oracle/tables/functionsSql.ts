import { quote } from './draw.ts';
import type { Table, TableFunction } from './model.ts';

/** What they return is said again in `answer.ts`. */
export function functionSql({ name, columns }: Table, { name: made, shape, returns }: TableFunction): string {
  const body = (signature: string, returned: string, text: string) =>
    `create function app_public.${made}(${signature}) returns ${returned} language sql stable set search_path = pg_catalog, pg_temp as $$ ${text} $$;
comment on function app_public.${made} is 'Function ${shape}.';
grant execute on function app_public.${made} to graph_app, graph_user, graph_basic;`;
  const row = `item app_public.${name}`;
  switch (shape) {
    case 'label':
      return body(
        row,
        'text',
        `select concat_ws('|', item.mark, ${columns.map((column) => `item.${quote(column.name)} is null`).join(', ')})`,
      );
    case 'sum':
      return body(
        `${row}, by int default 3, word text default null`,
        'text',
        `select concat_ws('|', item.mark + by, word)`,
      );
    case 'next':
      return body(
        row,
        `app_public.${name}`,
        `select i from app_public.${name} i where i.organization_id = item.organization_id and i.mark > item.mark order by i.mark limit 1`,
      );
    case 'words':
      return body(`${row}, times int default 2`, 'setof text', `select 'w' || n from generate_series(1, times) n`);
    case 'least':
      return body(
        `${row}, minimum int default null`,
        `setof app_public.${returns}`,
        `select i.* from app_public.${returns} i where i.organization_id = item.organization_id and i.mark >= coalesce(minimum, item.mark)`,
      );
    case 'ofApp':
      return body(
        'app app_public.app, minimum int default null',
        `setof app_public.${returns}`,
        `select i.* from app_public.${returns} i where i.organization_id = app.organization_id and i.mark >= coalesce(minimum, 0)`,
      );
  }
}
