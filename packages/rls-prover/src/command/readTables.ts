import type { ClientBase } from 'pg';

/** A table as rows are invented for it: what PostgreSQL wants of a row. */
export type Table = {
  /** With its schema, quoted where needed. */
  readonly name: string;
  readonly schema: string;
  readonly bare: string;
  readonly columns: readonly Column[];
  readonly primaryKey: readonly string[];
  /** Columns of any unique constraint or index. */
  readonly unique: readonly string[];
  readonly foreignKeys: readonly Reference[];
  readonly checks: readonly string[];
  readonly policies: readonly string[];
  /** As PostgreSQL estimates it. */
  readonly rows: number;
};

export type Column = {
  readonly name: string;
  /** As it is written in SQL, such as `character varying(20)`. */
  readonly type: string;
  /** The type's own name, below a domain: `varchar`, `_text`. */
  readonly base: string;
  /** PostgreSQL's category of the type, such as `S` of texts. */
  readonly category: string;
  readonly labels: readonly string[];
  readonly maxLength: number | null;
  readonly isRequired: boolean;
  readonly hasDefault: boolean;
  /** `always`: a value needs `overriding system value`. */
  readonly isIdentity: boolean;
  readonly isGenerated: boolean;
};

export type Reference = {
  readonly columns: readonly string[];
  readonly references: string;
  readonly referenced: readonly string[];
};

/** Reads the tables that a client's rows may depend on, without partitions, whose rows are their parents'. */
export const readTables = async (client: Pick<ClientBase, 'query'>, hidden: string): Promise<Table[]> =>
  (await client.query(statement, [hidden])).rows;

const names = (relation: string, numbers: string) => `array(
  select a.attname::text from unnest(${numbers}) with ordinality as listed (number, place)
  join pg_attribute a on a.attrelid = ${relation} and a.attnum = listed.number order by place)`;

// `$1` are schemas of the platform: of their tables, only those to which others refer are read.
const statement = `
  select format('%I.%I', n.nspname, c.relname) as name, n.nspname::text as schema, c.relname::text as bare,
    greatest(c.reltuples, 0)::float8 as rows,
    (select coalesce(jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'base', b.typname, 'category', b.typcategory,
        'labels', array(select e.enumlabel::text from pg_enum e where e.enumtypid = b.oid order by e.enumsortorder),
        'maxLength', case when b.typname in ('varchar', 'bpchar') and greatest(a.atttypmod, t.typtypmod) > 4 then greatest(a.atttypmod, t.typtypmod) - 4 end,
        'isRequired', a.attnotnull or t.typnotnull, 'hasDefault', a.atthasdef or a.attidentity <> '', 'isIdentity', a.attidentity = 'a',
        'isGenerated', a.attgenerated <> '') order by a.attnum), '[]')
      from pg_attribute a
      join pg_type t on t.oid = a.atttypid
      join pg_type b on b.oid = case when t.typtype = 'd' then t.typbasetype else t.oid end
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
    coalesce((select ${names('i.indrelid', 'i.indkey::int2[]')} from pg_index i where i.indrelid = c.oid and i.indisprimary), '{}') as "primaryKey",
    array(select distinct a.attname::text from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
      where i.indrelid = c.oid and i.indisunique) as unique,
    (select coalesce(jsonb_agg(jsonb_build_object('columns', ${names('k.conrelid', 'k.conkey')},
        'references', format('%I.%I', fn.nspname, f.relname), 'referenced', ${names('k.confrelid', 'k.confkey')}) order by k.conname), '[]')
      from pg_constraint k join pg_class f on f.oid = k.confrelid join pg_namespace fn on fn.oid = f.relnamespace
      where k.conrelid = c.oid and k.contype = 'f') as "foreignKeys",
    array(select pg_get_constraintdef(k.oid) from pg_constraint k where k.contype = 'c' and (k.conrelid = c.oid
      or k.contypid in (select a.atttypid from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)) order by k.conname) as checks,
    array(select concat_ws(' ', pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)) from pg_policy p where p.polrelid = c.oid) as policies
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^(pg_|information_schema$)'
    and (n.nspname !~ $1 or exists (select from pg_constraint k where k.contype = 'f' and k.confrelid = c.oid))
  order by 1`;
