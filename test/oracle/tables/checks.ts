import type { FilterOperator } from './model.ts';
import type { TypeName } from './types.ts';

// What is asked, as data: a document, or a walk along a connection.

/** An app token of either organization, or the token of its first person. */
export type Who = { readonly organization: 0 | 1; readonly scope: 'app' | 'person' };

export type Check = DocumentCheck | WalkCheck | MutationCheck;

/** A call of one of the mutations of a table; `texts` by column, as PostgreSQL writes them. */
export type MutationCheck = {
  readonly kind: 'mutation';
  readonly who: Who;
  readonly table: string;
  readonly shape: 'echo' | 'one' | 'many' | 'nothing';
  readonly marks: readonly number[];
  readonly texts: Readonly<Record<string, string | null>>;
  readonly selection: readonly Field[];
};

export type DocumentCheck = {
  readonly kind: 'document';
  readonly who: Who;
  readonly roots: readonly Root[];
  /** The same with other values, which are asked after it. */
  readonly exchanged?: readonly Root[];
};

export type WalkCheck = {
  readonly kind: 'walk';
  readonly who: Who;
  /** The root with the one connection that is walked. */
  readonly root: Root;
  readonly size: number;
  readonly isBackwards: boolean;
};

/** A row that has an id; of `units` and `users` the mark is their number. */
export type Known = { readonly source: string; readonly organization: 0 | 1; readonly mark: number };

export type Root =
  | { readonly kind: 'app'; readonly selection: readonly Field[] }
  | { readonly kind: 'viewer'; readonly selection: readonly Field[] }
  | { readonly kind: 'node'; readonly of: Known; readonly selection: readonly Field[] };

export type Field =
  | { readonly kind: 'typename' | 'id' | 'mark' | 'externalIdentifier' }
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'forward'; readonly reference: string; readonly selection: readonly Field[] }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly arguments: Readonly<Record<string, Scalar>>;
      readonly selection: readonly Field[];
    }
  | Connection;

type Scalar = string | number | null;

export type Connection = {
  readonly kind: 'connection';
  /** Rows of a table or view of the organization, rows that refer to the row, or rows of a function. */
  readonly via:
    | { readonly kind: 'app' }
    | { readonly kind: 'backward' | 'conditional'; readonly reference: string }
    | { readonly kind: 'call'; readonly name: string; readonly minimum?: number | null };
  readonly source: string;
  readonly page: { readonly first?: number; readonly last?: number };
  readonly orderBy: readonly string[];
  readonly filters: readonly Filter[];
  readonly ids?: readonly Known[] | undefined;
  readonly wants: readonly ('totalCount' | 'pageInfo' | 'edges')[];
  readonly selection: readonly Field[];
};

/** `texts` as PostgreSQL reads them; of `isNull` it is `true` or `false`. */
export type Filter = {
  readonly argument: string;
  readonly column: string;
  readonly type: TypeName;
  readonly operator: FilterOperator;
  readonly texts: readonly string[];
};
