import type { PgCodec } from 'postgraphile/@dataplan/pg';
import { type SQL, sql } from 'postgraphile/pg-sql2';

/** The type beneath a domain, or beneath several. */
export function baseOf(codec: PgCodec): PgCodec {
  return codec.domainOfCodec ? baseOf(codec.domainOfCodec) : codec;
}

/**
 * An expression of the type beneath its domain: PostgreSQL finds no operator for a domain over an enum, a range or a composite type.
 * An index of the column serves it, too.
 */
export const withoutDomain = (expression: SQL, codec: PgCodec): SQL =>
  codec.domainOfCodec ? sql`${expression}::${baseOf(codec).sqlType}` : expression;

/** The type of PostgreSQL that a scalar of the graph stands for; one of them if these are several. */
export function codecOfScalar(build: GraphileBuild.Build, name: string): PgCodec | undefined {
  const known = codecsOfBuilds.get(build);
  if (known) return known.get(name);
  const found = new Map<string, PgCodec>();
  for (const codec of build.allPgCodecs) {
    // An array has the type of its items in a list.
    if (codec.arrayOfCodec || !build.hasGraphQLTypeForPgCodec(codec, 'input')) continue;
    found.set(build.getGraphQLTypeNameByPgCodec(codec, 'input') ?? '', codec);
  }
  codecsOfBuilds.set(build, found);
  return found.get(name);
}

const codecsOfBuilds = new WeakMap<GraphileBuild.Build, ReadonlyMap<string, PgCodec>>();
