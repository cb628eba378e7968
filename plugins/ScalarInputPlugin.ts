import { type PgCodec, TYPES } from 'postgraphile/@dataplan/pg';
import { GraphQLError, type GraphQLScalarTypeConfig, Kind, type ValueNode } from 'postgraphile/graphql';
import { baseOf, codecOfScalar } from './values.ts';

/**
 * Input coercion of scalars that stand for a text: strings alone, and numbers where the type is one.
 * PostGraphile converts any value to text: the list `[5]` becomes 5, and the object `{}` becomes a name. It accepts no number in a
 * document; here the number's digits are the value, however many there are. A domain is given like the type beneath it.
 */
export const ScalarInputPlugin: GraphileConfig.Plugin = {
  name: 'ScalarInputPlugin',

  schema: {
    hooks: {
      GraphQLScalarType(config, build, { scope: { isCursorType } }) {
        const { name, parseValue, parseLiteral } = config;
        // The check of cursors has a better message, which names the connection.
        if (isCursorType) return { ...config, parseValue: (value) => (typeof value === 'string' ? value : '') };
        const codec = codecOfScalar(build, name);
        const base = codec && baseOf(codec);
        if (base && notTexts.has(base)) return config;
        if (base === TYPES.hstore) return { ...config, ...ofStrings(config) };
        const kinds = [Kind.STRING, ...((base && numbers.get(base)) ?? [])];
        const expected =
          base === TYPES.bytea ? 'a string in Base64' : kinds.length > 1 ? 'a string or a number' : 'a string';
        const refused = () => new GraphQLError(`${name} cannot be read from this value: send ${expected}.`);
        const ofText = (text: string): unknown => {
          if (base === TYPES.bytea && !isBase64(text)) throw refused();
          return parseValue ? parseValue(text) : text;
        };
        return {
          ...config,
          parseValue(value: unknown) {
            if (typeof value === 'string') return ofText(value);
            if (typeof value === 'number' && kinds.includes(Kind.INT)) return ofText(String(value));
            throw refused();
          },
          parseLiteral(node: ValueNode, variables) {
            if (!kinds.includes(node.kind)) throw refused();
            const { value } = node as Extract<ValueNode, { value: string }>;
            if (parseLiteral && node.kind === Kind.STRING && base !== TYPES.bytea) return parseLiteral(node, variables);
            return ofText(value);
          },
        };
      },
    },
  },
};

/** A domain over one of these has the coercion of the type: `Int`, `Float`, `Boolean` or `JSON`. */
const notTexts: ReadonlySet<PgCodec> = new Set<PgCodec>([
  TYPES.boolean,
  TYPES.int2,
  TYPES.int,
  TYPES.float4,
  TYPES.float,
  TYPES.json,
  TYPES.jsonb,
]);

/** The kinds of literals for numbers whose values are texts. */
const numbers: ReadonlyMap<PgCodec, readonly Kind[]> = new Map<PgCodec, readonly Kind[]>([
  [TYPES.bigint, [Kind.INT]],
  [TYPES.oid, [Kind.INT]],
  [TYPES.numeric, [Kind.INT, Kind.FLOAT]],
  [TYPES.money, [Kind.INT, Kind.FLOAT]],
]);

/** Node.js decodes any text, and leaves out what is no Base64. */
const isBase64 = (text: string) => /^[\w+/-]*={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1;

/** An object of strings and nulls. PostGraphile accepts a list for one, and writes a literal number anew. */
function ofStrings({ name, parseValue, parseLiteral }: GraphQLScalarTypeConfig<unknown, unknown>) {
  const refused = () => new GraphQLError(`${name} cannot be read from this value: send an object of strings.`);
  return {
    parseValue(value: unknown) {
      if (Array.isArray(value) || typeof value !== 'object') throw refused();
      return parseValue?.(value);
    },
    parseLiteral(node: ValueNode, variables?: Parameters<NonNullable<typeof parseLiteral>>[1]) {
      const isGiven =
        node.kind === Kind.OBJECT &&
        node.fields.every(({ value }) => [Kind.STRING, Kind.NULL, Kind.VARIABLE].includes(value.kind));
      if (!isGiven) throw refused();
      return parseLiteral?.(node, variables);
    },
  };
}
