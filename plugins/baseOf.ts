import type { PgCodec } from 'postgraphile/@dataplan/pg';

/** The type beneath a domain, or beneath several. */
export function baseOf(codec: PgCodec): PgCodec {
  return codec.domainOfCodec ? baseOf(codec.domainOfCodec) : codec;
}
