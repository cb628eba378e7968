import { type PgCodec, TYPES } from 'postgraphile/@dataplan/pg';
import { GraphQLError, Kind, type ValueNode } from 'postgraphile/graphql';
import { baseOf } from './baseOf.ts';

/**
 * Input coercion of scalars that stand for a text: strings alone, and numbers where the type is one.
 * PostGraphile converts any value to text: the list `[5]` becomes 5, and the object `{}` becomes a name. It accepts no number in a
 * document; here the number's digits are the value, however many there are. JSON and hstore have objects for values, and stay as they are.
 */
export const ScalarInputPlugin: GraphileConfig.Plugin = {
  name: 'ScalarInputPlugin',

  schema: {
    hooks: {
      GraphQLScalarType(config, build, { scope: { isCursorType } }) {
        const { name, parseValue, parseLiteral } = config;
        if (objects(build).includes(name)) return config;
        // The check of cursors has a better message, which names the connection.
        if (isCursorType) return { ...config, parseValue: (value) => (typeof value === 'string' ? value : '') };
        const kinds = [Kind.STRING, ...(numberKinds(build).get(name) ?? [])];
        const ofText = (text: string): unknown => (parseValue ? parseValue(text) : text);
        const expected = kinds.length > 1 ? 'a string or a number' : 'a string';
        const refused = () => new GraphQLError(`${name} cannot be read from this value: send ${expected}.`);
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
            return parseLiteral && node.kind === Kind.STRING ? parseLiteral(node, variables) : ofText(value);
          },
        };
      },
    },
  },
};

const objects = ({ inflection }: GraphileBuild.Build) => [
  inflection.builtin('JSON'),
  inflection.builtin('KeyValueHash'),
];

/** Scalars that are numbers, including domains, and the kinds of literals for them. */
function numberKinds(build: GraphileBuild.Build): ReadonlyMap<string, readonly Kind[]> {
  const known = numbers.get(build);
  if (known) return known;
  const found = new Map<string, readonly Kind[]>();
  for (const codec of build.allPgCodecs) {
    const kinds = kindsOf.get(baseOf(codec));
    const name = kinds && build.getGraphQLTypeNameByPgCodec(codec, 'input');
    if (name) found.set(name, kinds);
  }
  numbers.set(build, found);
  return found;
}

const kindsOf: ReadonlyMap<PgCodec, readonly Kind[]> = new Map<PgCodec, readonly Kind[]>([
  [TYPES.bigint, [Kind.INT]],
  [TYPES.oid, [Kind.INT]],
  [TYPES.numeric, [Kind.INT, Kind.FLOAT]],
]);

const numbers = new WeakMap<GraphileBuild.Build, ReadonlyMap<string, readonly Kind[]>>();
