export type Table = {
  readonly name: string;
  /** Without `organization_id`. */
  readonly columns: string;
  /** The columns of the primary key behind `organization_id`. */
  readonly key: readonly string[];
  /** The columns of indexes, each behind `organization_id`. */
  readonly indexes?: readonly string[];
};

/**
 * A table as docs/changing-the-schema.md has it: rows of an organization, which its applications read by the connection of `app` that has
 * the table's name.
 */
export function tableSql({ name, columns, key, indexes = [] }: Table): string {
  return `
    create table app_public.${name} (
      organization_id uuid not null,
      ${columns},
      constraint ${name}_pkey primary key (${['organization_id', ...key].join(', ')})
    );
    ${indexes.map((column, index) => `create index ${name}_${index}_idx on app_public.${name} (organization_id, ${column});`).join('\n')}
    comment on table app_public.${name} is
      E'@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName ${fieldOf(name)}|@forwardBehavior -*|@backwardBehavior -list +connection\\nA row of ${name}.';
    alter table app_public.${name} enable row level security, force row level security;
    create policy all_graph_admin on app_public.${name} for all to graph_admin using (true) with check (true);
    create policy select_graph_app on app_public.${name} for select to graph_app
      using (organization_id = (select app_hidden.current_organization_id()));
    grant select on app_public.${name} to graph_app;`;
}

/** The connection of `app` that has the rows: `level_1_rooms` is `level1Rooms`. */
export const fieldOf = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
