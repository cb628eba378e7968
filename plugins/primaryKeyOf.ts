import type { PgResource } from 'postgraphile/@dataplan/pg';

/** The primary key of a table; undefined without one. */
export const primaryKeyOf = ({ uniques }: Pick<PgResource, 'uniques'>) => uniques.find(({ isPrimary }) => isPrimary);
