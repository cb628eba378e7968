import type { PgCodec } from 'postgraphile/@dataplan/pg';
import { describedParameters, type FunctionResource, functionsOf } from './functions.ts';

declare global {
  namespace GraphileConfig {
    interface Plugins {
      ParameterDescriptionsPlugin: true;
    }
  }
}

/** Describes the arguments of a field that is a function, such as a filter, by the lines `@param` of its comment. */
export const ParameterDescriptionsPlugin: GraphileConfig.Plugin = {
  name: 'ParameterDescriptionsPlugin',
  description: "Takes the descriptions of a function's arguments from its comment",
  version: '1.0.0',

  schema: {
    hooks: {
      GraphQLObjectType_fields_field_args(args, build, { scope }) {
        const resource = scope.pgCodec && functionOf(build, scope.pgCodec as PgCodec, scope.fieldName);
        if (!resource) return args;
        const described = describedParameters(build, resource);
        return Object.fromEntries(
          Object.entries(args).map(([name, arg]) => [
            name,
            described[name] ? { ...arg, description: described[name].description } : arg,
          ]),
        );
      },
    },
  },
};

/** The function `<type>_<field>(<type>)` behind a field of a type. */
function functionOf(build: GraphileBuild.Build, codec: PgCodec, fieldName: string): FunctionResource | undefined {
  return functionsOf(build).find((resource) => {
    if (resource.isMutation || resource.parameters[0]?.codec !== codec) return false;
    const { inflection } = build;
    return [
      inflection.computedAttributeField({ resource }),
      inflection.computedAttributeConnectionField({ resource }),
      inflection.computedAttributeListField({ resource }),
    ].includes(fieldName);
  });
}
