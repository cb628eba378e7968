import { type PgCodec, PgSelectSingleStep } from 'postgraphile/@dataplan/pg';
import { get, lambda, type Step } from 'postgraphile/grafast';
import type { GraphQLOutputType } from 'postgraphile/graphql';
import { encodeNodeId } from '../NodeIdPlugin.ts';
import { isComposite, typeNameOf } from './inputOf.ts';

/**
 * Composite values within what a mutation returns, as columns of its one statement.
 * PostGraphile would send them back in another statement to take them apart, since it reads nothing in a statement that writes.
 * `@type {User}` makes an attribute, which is a key, the global id of a user, as it does in input objects.
 */
export const CompositeAttributesPlugin: GraphileConfig.Plugin = {
  name: 'CompositeAttributesPlugin',

  schema: {
    hooks: {
      GraphQLObjectType: (config, build, { scope: { pgCodec } }) =>
        isOfColumns(build, pgCodec) ? { ...config, assertStep: null } : config,

      GraphQLObjectType_fields_field(field, build, { scope: { pgCodec, pgFieldAttribute } }) {
        const [name] = Object.entries(pgCodec?.attributes ?? {}).find(([, each]) => each === pgFieldAttribute) ?? [];
        const { plan } = field;
        const idType =
          name && pgCodec && isComposite(pgCodec) && typeNameOf(pgFieldAttribute?.extensions?.tags?.type, name);
        if (name && idType) {
          const toId = idOf(idType);
          const type = build.graphql.GraphQLID as GraphQLOutputType;
          return { ...field, type, plan: ($row: Step) => lambda(get($row, name), toId, true) };
        }
        if (!name || !plan || !isOfColumns(build, pgFieldAttribute?.codec)) return field;
        const isWritten = ($row: Step) =>
          !($row instanceof PgSelectSingleStep) || $row.getClassStep().mode === 'mutation';
        return { ...field, plan: ($row, ...rest) => (isWritten($row) ? get($row, name) : plan($row, ...rest)) };
      },
    },
  },
};

const idOf = (typeName: string) => (key: unknown) => (key == null ? null : encodeNodeId([typeName, key]));

/** A computed field needs more of its row than columns. */
const isOfColumns = ({ pgResources }: GraphileBuild.Build, codec: PgCodec | undefined) =>
  codec !== undefined &&
  isComposite(codec) &&
  !Object.values(pgResources).some(({ parameters }) => parameters?.[0]?.codec === codec);
