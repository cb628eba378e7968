import { TYPES } from 'postgraphile/@dataplan/pg';
import { baseOf, codecOfScalar } from './values.ts';

/**
 * Object identifiers of PostgreSQL, which have 32 bits and no sign.
 * PostGraphile reads and writes them as it does `Int`.
 */
export const OidPlugin: GraphileConfig.Plugin = {
  name: 'OidPlugin',
  before: ['ScalarInputPlugin'],

  schema: {
    hooks: {
      GraphQLScalarType(config, build) {
        const codec = codecOfScalar(build, config.name);
        return codec && baseOf(codec) === TYPES.oid ? { ...config, serialize: toOid, parseValue: toOid } : config;
      },
    },
  },
};

function toOid(value: unknown): number {
  const number = /^\d{1,10}$/.test(String(value)) ? Number(value) : Number.NaN;
  if (!(number < 2 ** 32)) throw new Error('An Oid is a whole number from 0 to 4294967295.');
  return number;
}
