import type { TypeName } from './types.ts';

// What is drawn, as data, so that a failure can be made smaller and printed.

export type FilterOperator = 'anyOf' | 'from' | 'until' | 'prefix' | 'is' | 'isNull';

export type Column = {
  readonly name: string;
  readonly type: TypeName;
  readonly isNullable: boolean;
  /** An expression over other columns, for `generated always as … stored`. */
  readonly generated?: string;
  /** Whether it is renamed after the table is recorded and followed. */
  readonly isRenamed?: true;
  /** Whether the history keeps no value of it. */
  readonly isSecret?: true;
  readonly filters: readonly { readonly argument: string; readonly operator: FilterOperator }[];
};

/** A foreign key to units, users or a drawn table; its columns begin with its name. */
export type Reference = {
  readonly name: string;
  readonly target: string;
  readonly isNullable: boolean;
  /** The names of the fields of either side. */
  readonly forward: string;
  readonly backward: string;
  /** A connection with those of the rows whose mark is greater than 40, said by `@connection`; of units and users only. */
  readonly conditional?: string;
};

/** The columns of a B-tree behind `organization_id`. */
export type Index = { readonly columns: readonly string[]; readonly kind: 'plain' | 'desc' | 'unique' | 'nulls' };

/** Functions by their shapes, whose bodies are in `sql.ts` and whose results in `answer.ts`. */
export type FunctionShape = 'label' | 'sum' | 'next' | 'words' | 'least' | 'ofApp';

export type TableFunction = { readonly name: string; readonly shape: FunctionShape; readonly returns: string };

/** Several types in one table: `values` of its column `kind` by the names of the types, and which column is whose. */
export type Interface = {
  readonly kinds: readonly { readonly value: string; readonly type: string; readonly attributes: readonly string[] }[];
};

export type Row = {
  readonly organization: 0 | 1;
  readonly mark: number;
  /** Texts as PostgreSQL reads them, by column; of references the mark of the row, or the number of a unit or user. */
  readonly values: Readonly<Record<string, string | null>>;
  readonly references: Readonly<Record<string, number | null>>;
};

export type Table = {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly references: readonly Reference[];
  /** Columns and references behind `organization_id`. */
  readonly key: readonly string[];
  readonly indexes: readonly Index[];
  readonly partition?: 'hash' | 'list' | 'range';
  readonly interface?: Interface;
  /** Which rows a person sees. */
  readonly policy: 'all' | 'unit' | 'user' | 'none';
  /** What a view over the rows of this table is called, if it has one. */
  readonly view?: string;
  readonly functions: readonly TableFunction[];
  readonly rows: readonly Row[];
};

export type Case = { readonly tables: readonly Table[] };

/** The names of GraphQL for a table or column: `a1_items` is `a1Items`, and its type `A1Item`. */
export const camelCase = (name: string) => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
export const typeNameOf = (table: string) => {
  const name = camelCase(table.replace(/s$/, ''));
  return name.charAt(0).toUpperCase() + name.slice(1);
};
/** Of a column; a name that begins with a digit gets an underscore. */
export const fieldNameOf = (column: string) => camelCase(column).replace(/^(?=\d)/, '_');
export const orderNameOf = (column: string) => column.toUpperCase().replace(/^(?=\d)/, '_');
