import type { Claims, Principal, Role } from './principals.ts';
import type { World } from './world.ts';

/** A row as the oracle knows it: what it is called in its organization, and whose it is. */
export type Row = {
  organization: string;
  key: string;
  application?: string;
  user?: string | null;
  unit?: string;
  card?: string;
  role?: Role;
};

export type Sees = (row: Row, claims: Claims, world: World) => boolean;

export type Table = {
  view?: true;
  /** An SQL expression that makes a row's `key`. */
  key: string;
  /** For rows of no organization: the SQL expression that stands for it. */
  organization?: string;
  rows(world: World): Row[];
  /** Which rows each role sees. A role that is absent here is refused. */
  sees: Partial<Record<Role, Sees>>;
  /** How each role changes the rows that it sees. A role or command that is absent here is refused. */
  changes?: Partial<Record<Role, Changes>>;
};

export type Changes = {
  /** An assignment that is allowed, of a constant: then nothing but the policy of updates chooses the rows. */
  update?: string;
  /** Whether organization_id may be set, too; then the policy alone keeps a row where it is. */
  movable?: true;
  delete?: true;
  /** Whether others refer to a row and do not go along when it alone is deleted. */
  keeps?: (row: Row, world: World) => boolean;
  insert?: Insert;
};

/** A new row, for the `number`th person or grant of an organization; when it is not `fresh`, its key may be taken. */
export type Insert = {
  /** With the organization as $1. */
  into: string;
  /** The constraint that reports that its key is taken; the primary key unless given. */
  key?: string;
  values(world: World, organization: string, number: number, fresh: boolean): string[];
  exists(world: World, organization: string, number: number, principal: Principal): boolean;
  /** Whether its key follows from the rows that it points to, so that a fresh one may be taken, too. */
  isPair?: true;
  /** The SQLSTATE without claims, where a trigger refuses the row before the policy does. */
  refusedWithoutClaims?: string;
  /** Whether the organization has everything that it points to. */
  complete(world: World, organization: string, number: number, principal: Principal): boolean;
  /** Whether the policy refuses it although the organization is the claim's. */
  refuses?(claims: Claims): boolean;
};
