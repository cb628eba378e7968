import { type PgCodec, PgSelectSingleStep } from 'postgraphile/@dataplan/pg';
import { get, type Step } from 'postgraphile/grafast';
import { isComposite } from './inputOf.ts';

/**
 * Composite values within what a mutation returns, as columns of its one statement.
 * PostGraphile would send them back in another statement to take them apart, since it reads nothing in a statement that writes.
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
        if (!name || !plan || !isOfColumns(build, pgFieldAttribute?.codec)) return field;
        const isWritten = ($row: Step) =>
          !($row instanceof PgSelectSingleStep) || $row.getClassStep().mode === 'mutation';
        return { ...field, plan: ($row, ...rest) => (isWritten($row) ? get($row, name) : plan($row, ...rest)) };
      },
    },
  },
};

/** A computed field needs more of its row than columns. */
const isOfColumns = ({ pgResources }: GraphileBuild.Build, codec: PgCodec | undefined) =>
  codec !== undefined &&
  isComposite(codec) &&
  !Object.values(pgResources).some(({ parameters }) => parameters?.[0]?.codec === codec);
