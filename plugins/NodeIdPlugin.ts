import type {} from 'postgraphile';
import { lambda, type Step } from 'postgraphile/grafast';
import { extendSchema, gql } from 'postgraphile/utils';

declare global {
  namespace GraphileConfig {
    interface Plugins {
      NodeIdPlugin: true;
      ViewerIdPlugin: true;
    }
  }
}

/**
 * Global ids: base64url of `<type>:<uuid>`, opaque to clients. Only what the service itself could have issued decodes,
 * so that a tampered id never reaches a statement.
 */
export const NodeIdPlugin: GraphileConfig.Plugin = {
  name: 'NodeIdPlugin',
  description: 'Encodes global ids from the type and the uuid of a row',
  version: '1.0.0',

  inflection: {
    add: {
      // Belongs to NodeAccessorPlugin, which is disabled; simplify-inflection replaces it and complains when it is absent.
      nodeById(_options, typeName) {
        return this.camelCase(typeName);
      },
    },
  },

  schema: {
    hooks: {
      init(_, build) {
        build.registerNodeIdCodec?.({ name: nodeIdCodecName, encode: encodeNodeId, decode: decodeNodeId });
        return _;
      },
    },
  },
};

/** `Viewer.id` is the id of the user that the viewer is. */
export const ViewerIdPlugin: GraphileConfig.Plugin = extendSchema(
  {
    typeDefs: gql`
      extend type Viewer {
        """
        Identifier of the user.
        """
        id: ID!
      }
    `,
    objects: {
      Viewer: {
        plans: {
          id: ($viewer: Step & { get(attribute: string): Step<string> }) =>
            lambda($viewer.get('id'), (uuid) => encodeNodeId(['User', uuid]), true),
        },
      },
    },
  },
  'ViewerIdPlugin',
);

export const nodeIdCodecName = 'typeAndUuid';

/** `[type, uuid]` to a global id. */
export function encodeNodeId(value: readonly unknown[] | null): string | null {
  if (value === null) return null;
  const text = `${value[0]}:${value[1]}`;
  // A quarter of the time that a Buffer takes. Letters, digits and `:-` never give `+` or `/`, only `=` at the end.
  return btoa(text).slice(0, Math.ceil((text.length * 4) / 3));
}
encodeNodeId.isSyncAndSafe = true;

/** A global id to `[type, uuid]`, or null when this service cannot have issued it. */
export function decodeNodeId(id: unknown): readonly [type: string, uuid: string] | null {
  if (typeof id !== 'string' || id.length > 200) return null;
  const [, type, uuid] =
    /^([A-Za-z]+):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(
      Buffer.from(id, 'base64url').toString('latin1'),
    ) ?? [];
  return type !== undefined && uuid !== undefined && encodeNodeId([type, uuid]) === id ? [type, uuid] : null;
}
decodeNodeId.isSyncAndSafe = true;
