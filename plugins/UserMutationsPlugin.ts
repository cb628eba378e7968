import type { PgClientQuery, PgCodec, PgResource } from 'postgraphile/@dataplan/pg';
import { access, context, type ExecutableStep, type FieldArgs, lambda, list, object } from 'postgraphile/grafast';
import { extendSchema, gql } from 'postgraphile/utils';
import { v7 as uuidv7 } from 'uuid';
import { isUuid } from './isUuid.ts';
import { decodeNodeId } from './NodeIdPlugin.ts';
import { assertScope } from './RootFieldsPlugin.ts';
import { refusal } from './refusal.ts';
import { unusableIn } from './unusableIn.ts';

/**
 * `userCreate`, `userUpdate` and `userDelete`: each calls the function of that name in app_public.
 * It has the rights of the token. Arguments become a jsonb object, in which an absent key (leave it) and null (clear it) stay apart.
 */
export const UserMutationsPlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const { user_create, user_update, user_delete } = build.pgResources;
  if (!user_create || !user_update || !user_delete)
    throw new Error('The functions app_public.user_* are missing; run the migrations');
  const { uuid, text, jsonb } = build.dataplanPg.TYPES;

  return {
    typeDefs: gql`
      extend type Mutation {
        """Adds a user to the organization. Needs an app token (scope \`app\`)."""
        userCreate(
          """Full name: 1 to 200 characters."""
          fullName: String!
          """E-mail address: unique in the organization, whatever its case."""
          email: String!
          """BCP 47 language tag, such as \`de\` or \`de-AT\`; \`en\` by default."""
          locale: String
          """IANA name, such as \`Europe/Berlin\`, or the city alone; \`UTC\` by default."""
          timeZone: String
          """Another spelling of \`timeZone\`."""
          timezone: String @deprecated(reason: "Use timeZone.")
          """Identifier that the client system assigns: unique in the organization, 1 to 200 characters, compared exactly."""
          externalIdentifier: String
          """Token used for external authentication: unique in the organization, 16 to 500 characters."""
          externalAuthenticationToken: String
        ): UserCreatePayload

        """Changes a user, found by \`id\`, or without it by \`externalIdentifier\`. An omitted argument leaves its value. Needs an app token (scope \`app\`)."""
        userUpdate(
          """The user to change."""
          id: ID
          """With \`id\`, the new value (null clears it); without \`id\`, the user to change."""
          externalIdentifier: String
          """Full name: 1 to 200 characters."""
          fullName: String
          """E-mail address: unique in the organization, whatever its case."""
          email: String
          """BCP 47 language tag, such as \`de\` or \`de-AT\`."""
          locale: String
          """IANA name, such as \`Europe/Berlin\`, or the city alone."""
          timeZone: String
          """Another spelling of \`timeZone\`."""
          timezone: String @deprecated(reason: "Use timeZone.")
          """Token used for external authentication: unique in the organization, 16 to 500 characters; null clears it."""
          externalAuthenticationToken: String
        ): UserUpdatePayload

        """Deletes a user with all card assignments, grants and tokens. Exactly one of the arguments is given. Needs an app token (scope \`app\`)."""
        userDelete(
          """The user to delete."""
          id: ID
          """The user to delete, by the identifier that the client system assigned."""
          externalIdentifier: String
        ): UserDeletePayload
      }

      """The result of \`userCreate\`."""
      type UserCreatePayload {
        """The new user."""
        user: User
      }

      """The result of \`userUpdate\`."""
      type UserUpdatePayload {
        """The user after the change."""
        user: User
      }

      """The result of \`userDelete\`."""
      type UserDeletePayload {
        """The user as it was."""
        user: User
      }
    `,
    objects: {
      Mutation: {
        plans: {
          userCreate: calling(user_create, toCreateCall, { id: uuid, values: jsonb }),
          userUpdate: calling(user_update, toUpdateCall, { id: uuid, externalIdentifier: text, values: jsonb }),
          userDelete: calling(user_delete, toDeleteCall, { id: uuid, externalIdentifier: text }),
        },
      },
    },
  };
}, 'UserMutationsPlugin');

/** The plan of a mutation: passes what `toCall` makes of the arguments, in the order of `codecs`. */
const calling =
  (
    resource: PgResource,
    toCall: (given: readonly [Grafast.Context, Arguments]) => unknown,
    codecs: Readonly<Record<string, PgCodec>>,
  ) =>
  (_$root: ExecutableStep, args: FieldArgs) => {
    const $call = lambda(list([context(), args.getRaw()]), toCall);
    const values = Object.entries(codecs).map(([name, pgCodec]) => ({ step: access($call, name), pgCodec }));
    return object({ user: resource.execute(values, 'mutation') });
  };

type Arguments = Readonly<Record<string, string | null | undefined>>;
type Values = Record<string, string | null>;

async function toCreateCall([graph, args]: readonly [Grafast.Context, Arguments]) {
  assertScope(graph.scopes, 'app');
  const id = uuidv7();
  // Here null is as good as absent: there is nothing to clear yet.
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value != null));
  return { id, values: await seal(graph, id, toValues(given)) };
}

async function toUpdateCall([graph, args]: readonly [Grafast.Context, Arguments]) {
  assertScope(graph.scopes, 'app');
  const { id: globalId, externalIdentifier, ...others } = args;
  for (const argument of ['fullName', 'email', 'locale', 'timeZone', 'timezone']) {
    if (args[argument] === null)
      throw badInput(argument, `${argument} cannot be null; leave it out to keep its value.`);
  }
  if (globalId != null) {
    const id = userIdOf(globalId);
    const values = toValues(externalIdentifier === undefined ? others : { ...others, externalIdentifier });
    return { id, externalIdentifier: null, values: await seal(graph, id, values) };
  }
  if (externalIdentifier == null) throw badInput('id', 'Give id or externalIdentifier to say which user to change.');

  const values = toValues(others);
  assertText('externalIdentifier', externalIdentifier);
  // A sealed token is bound to the user's id. The update then asks for both, so that it cannot hit another user.
  const id = values.externalAuthenticationToken == null ? null : await findUserId(graph, externalIdentifier);
  return { id, externalIdentifier, values: await seal(graph, id ?? '', values) };
}

function toDeleteCall([graph, { id, externalIdentifier }]: readonly [Grafast.Context, Arguments]) {
  assertScope(graph.scopes, 'app');
  if ((id == null) === (externalIdentifier == null))
    throw badInput('id', 'Give either id or externalIdentifier to say which user to delete.');
  if (externalIdentifier != null) assertText('externalIdentifier', externalIdentifier);
  return { id: id == null ? null : userIdOf(id), externalIdentifier: externalIdentifier ?? null };
}

/** The arguments by the names of their fields, with the two spellings of the time zone made one. */
function toValues(args: Arguments): Values {
  const { timezone, ...others } = args;
  const values: Record<string, string | null | undefined> = others;
  if (timezone != null) {
    if (values.timeZone != null && values.timeZone !== timezone)
      throw badInput('timezone', 'timezone is another spelling of timeZone; the two differ.');
    values.timeZone = timezone;
  }
  for (const [argument, value] of Object.entries(values)) if (value != null) assertText(argument, value);
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string | null] => entry[1] !== undefined),
  );
}

/** Replaces the external authentication token by its ciphertext and hash; null clears both. */
async function seal(graph: Grafast.Context, userId: string, values: Values): Promise<Values> {
  const { externalAuthenticationToken: token, ...others } = values;
  if (token === undefined) return others;
  if (token === null)
    return { ...others, externalAuthenticationTokenCiphertext: null, externalAuthenticationTokenHash: null };

  const length = [...token].length;
  if (length < 16 || length > 500)
    throw badInput('externalAuthenticationToken', 'An external authentication token has 16 to 500 characters.');
  const owner = { organizationId: graph.organizationId, userId };
  const { ciphertext, hash, previousHash } = graph.sealExternalAuthenticationToken(token, owner);
  if (previousHash) await assertFree(graph, userId, previousHash);
  return {
    ...others,
    externalAuthenticationTokenCiphertext: ciphertext.toString('hex'),
    externalAuthenticationTokenHash: hash.toString('hex'),
  };
}

/** The unique constraint compares hashes under one key; this one is under the key before. */
async function assertFree(graph: Grafast.Context, userId: string, previousHash: Buffer): Promise<void> {
  const others = await queryUsers(graph, {
    text: 'select from app_public.users where external_authentication_token_hash = $1 and id <> $2',
    values: [previousHash, userId],
  });
  if (others.length === 0) return;
  throw refusal('CONFLICT', 'Another user has this external authentication token.', {
    argument: 'externalAuthenticationToken',
  });
}

function userIdOf(globalId: string): string {
  const [type, key] = decodeNodeId(globalId) ?? [];
  if (!type) throw badInput('id', 'This is not an id that the service has issued.');
  if (type !== 'User' || !isUuid(key)) throw notFound();
  return key;
}

async function findUserId(graph: Grafast.Context, externalIdentifier: string): Promise<string> {
  const [user] = await queryUsers<{ id: string }>(graph, {
    text: 'select id from app_public.users where external_identifier = $1',
    values: [externalIdentifier],
  });
  if (!user) throw notFound();
  return user.id;
}

async function queryUsers<Row>(graph: Grafast.Context, query: PgClientQuery): Promise<readonly Row[]> {
  const { rows } = await graph.withPgClient(graph.pgSettings, (client) => client.query<Row>(query));
  return rows;
}

function assertText(argument: string, value: string): void {
  const problem = unusableIn(value);
  if (problem) throw badInput(argument, `${argument} ${problem}.`);
}

const badInput = (argument: string, message: string) => refusal('BAD_USER_INPUT', message, { argument });

const notFound = () => refusal('NOT_FOUND', 'There is no such user.');
