import { type PgCodec, TYPES } from 'postgraphile/@dataplan/pg';
import { baseOf } from '../baseOf.ts';

export const isJson = (codec: PgCodec) => [TYPES.json, TYPES.jsonb].includes(baseOf(codec) as typeof TYPES.json);

/** Makes a value one for `jsonb_populate_record`, in place: leaves out what was not given. */
export function toJson(codec: PgCodec, value: unknown): unknown {
  if (value === null) return null;
  const { arrayOfCodec, attributes } = codec;
  if (arrayOfCodec) return (value as readonly unknown[]).map((item) => toJson(arrayOfCodec, item));
  if (attributes) {
    const row = value as Record<string, unknown>;
    for (const name in row) row[name] = toJson(attributes[name]?.codec as PgCodec, row[name]);
    return row;
  }
  return isJson(codec) || typeof value === 'number' || typeof value === 'boolean' ? value : codec.toPg(value);
}
