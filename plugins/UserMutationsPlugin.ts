import { GraphQLString } from 'postgraphile/graphql';
import { v7 as uuidv7 } from 'uuid';
import { findUserIds, problemOfToken, sealedToken } from './ExternalAuthenticationTokenPlugin.ts';
import type { Given, InputFromContext } from './functions/FunctionArgumentsPlugin.ts';
import { decodeNodeId } from './NodeIdPlugin.ts';
import { assertScope } from './RootFieldsPlugin.ts';
import { refusal } from './refusal.ts';
import { unusableIn } from './values.ts';

/**
 * `@param {ExternalAuthenticationToken}`: the service, which has the key, seals the client's token.
 * The SQL functions behind `userCreate` and `userUpdate` get JSON: the ciphertext and the hashes in hex. It also has the id of the user
 * to whom the sealed token is bound.
 */
export const UserMutationsPlugin: GraphileConfig.Plugin = {
  name: 'UserMutationsPlugin',

  schema: {
    hooks: {
      build(build) {
        const { user_create, user_update } = (build as GraphileBuild.Build).pgResources;
        if (!user_create || !user_update)
          throw new Error('The functions app_public.user_* are missing; run the migrations');
        const sealed: InputFromContext = { type: GraphQLString, read: seal };
        const inputsFromContext = new Map([['ExternalAuthenticationToken', sealed]]);
        return build.extend(build, { inputsFromContext }, 'UserMutationsPlugin');
      },
    },
  },
};

const seal: InputFromContext['read'] = async (graph, args, argument, names) => {
  assertScope(graph.scopes, 'app');
  const token = args[argument] as string | null | undefined;
  if (token == null) return token;
  const problem = problemOfToken(token);
  if (problem) throw refusal('BAD_USER_INPUT', problem, { argument });

  const userId = names.includes('id') ? await userIdOf(graph, args) : uuidv7();
  return userId === null ? null : sealedToken(graph, token, userId);
};

/** Null when the arguments name no user; another check reports that. */
async function userIdOf(graph: Grafast.Context, { id, externalIdentifier }: Given): Promise<string | null> {
  const [type, key] = decodeNodeId(id) ?? [];
  if (id != null) return type === 'User' ? String(key) : null;
  if (typeof externalIdentifier !== 'string' || unusableIn(externalIdentifier)) return null;
  const userId = (await findUserIds(graph, [externalIdentifier])).get(externalIdentifier);
  if (userId !== undefined) return userId;
  throw refusal('NOT_FOUND', 'There is no such user.');
}
