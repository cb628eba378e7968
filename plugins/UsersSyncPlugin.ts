import { context, type FieldArgs, lambda, list } from 'postgraphile/grafast';
import { wrapPlans } from 'postgraphile/utils';
import { v7 as uuidv7 } from 'uuid';
import { findUserIds, problemOfToken, sealedToken } from './ExternalAuthenticationTokenPlugin.ts';
import { assertScope } from './RootFieldsPlugin.ts';
import { unusableIn } from './values.ts';

/**
 * `usersSync`: seals external authentication tokens, which the database must not see in clear.
 * app_public.users_sync does everything else. It recognizes an unchanged token by its keyed hash.
 */
export const UsersSyncPlugin: GraphileConfig.Plugin = wrapPlans({
  Mutation: {
    usersSync(plan, $root, args) {
      const $sealed = lambda(list([context(), args.getRaw()]), sealTokens);
      return plan($root, { ...args, getRaw: () => $sealed } as unknown as FieldArgs);
    },
  },
});

type Arguments = { readonly users: readonly Row[] };

type Row = {
  readonly externalIdentifier: string;
  readonly externalAuthenticationToken?: string | null;
};

async function sealTokens([graph, given]: readonly [Grafast.Context, Arguments]): Promise<Arguments> {
  assertScope(graph.scopes, 'app');
  const ids = await findIds(graph, given.users);
  const users = given.users.map((row) => {
    const { externalIdentifier, externalAuthenticationToken: token } = row;
    if (token == null) return row;
    const problem = problemOfToken(token);
    const sealed = problem ? { problem } : sealedToken(graph, token, ids.get(externalIdentifier) ?? uuidv7());
    return { ...row, externalAuthenticationToken: JSON.stringify(sealed) };
  });
  return { ...given, users };
}

/** The ids of the existing users that get a token. */
async function findIds(graph: Grafast.Context, rows: readonly Row[]): Promise<ReadonlyMap<string, string>> {
  const wanted = rows.filter(
    (row) => row.externalAuthenticationToken != null && unusableIn(row.externalIdentifier) === null,
  );
  if (wanted.length === 0) return new Map();
  return findUserIds(
    graph,
    wanted.map(({ externalIdentifier }) => externalIdentifier),
  );
}
