import { randomBytes } from 'node:crypto';
import type { PgResource } from 'postgraphile/@dataplan/pg';
import { context, lambda, list, type ObjectStep, type Step } from 'postgraphile/grafast';
import { type GraphQLEnumType, GraphQLList, GraphQLNonNull, GraphQLString } from 'postgraphile/graphql';
import { extendSchema, gql } from 'postgraphile/utils';
import { v7 as uuidv7 } from 'uuid';
import type { Naming } from './ChangeNamingPlugin.ts';
import { type Change, presentChange } from './ChangesPlugin.ts';
import { type FeedRow, toChange } from './changeFeed.ts';
import type { InputFromContext } from './functions/FunctionArgumentsPlugin.ts';
import { decodeNodeId } from './NodeIdPlugin.ts';
import { assertScope } from './RootFieldsPlugin.ts';
import { refusal } from './refusal.ts';

/**
 * Webhooks: the parts that need the key or the schema, which are secrets and changes of deliveries.
 * Everything else is made from the tables and functions of app_public.
 */
export const WebhooksPlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const feedRows = build.pgResources.webhook_deliveries_feed_row as PgResource | undefined;
  if (!feedRows) throw new Error('The function app_public.webhook_deliveries_feed_row is missing; run the migrations');
  const { changeNaming } = build as GraphileBuild.Build;

  return {
    typeDefs: gql`
      extend type Webhook {
        """The types whose changes are sent; null for all that are followed."""
        typeNames: [FollowedType!]
      }

      extend type WebhookDelivery {
        """The change that is sent; null when it is no longer kept."""
        change: Change
      }

      extend type WebhookCreatePayload {
        """What deliveries are signed with. It is shown here alone."""
        secret: String
      }

      extend type WebhookRotateSecretPayload {
        """What deliveries are signed with. It is shown here alone."""
        secret: String
      }
    `,
    objects: {
      Webhook: {
        plans: {
          // One of before may have another name by now.
          typeNames: ($webhook: Row) =>
            lambda(
              $webhook.get('type_names'),
              (names: readonly string[] | null) =>
                names?.filter((name) => changeNaming.followedTypes.has(name)) ?? null,
              true,
            ),
        },
      },
      WebhookDelivery: {
        plans: {
          change($delivery: Row & { record(): Step }) {
            const $row = feedRows.execute([{ step: $delivery.record() }] as never) as Step;
            return lambda(list([context(), $row, $delivery.get('organization_id')]), changes(changeNaming));
          },
        },
      },
      WebhookCreatePayload: { plans: { secret: ($payload: Step) => secretOf($payload) } },
      WebhookRotateSecretPayload: { plans: { secret: ($payload: Step) => secretOf($payload) } },
    },
  };
}, 'WebhooksPlugin');

type Row = Step & { get(attribute: string): Step };

type Sent = readonly [Grafast.Context, row: (FeedRow & { origin: string }) | null, organizationId: string];

function changes(naming: Naming) {
  const present = ([graph, row, organizationId]: Sent): Change | null =>
    row && presentChange(toChange(row, { origin: row.origin, organizationId }), naming, graph);
  present.isSync = true;
  return present;
}

function secretOf($payload: Step): Step {
  const $webhook = ($payload as ObjectStep<{ webhook: Row }>).get('webhook');
  const $owner = list([$webhook.get('organization_id'), $webhook.get('id')]);
  return lambda(list([context(), $webhook.get('secret_ciphertext'), $owner]), openSecret);
}

type Sealed = readonly [Grafast.Context, ciphertext: Buffer | null, owner: readonly [string, string]];

function openSecret([graph, ciphertext, [organizationId, webhookId]]: Sealed): string | null {
  if (!ciphertext) return null;
  const secret = graph.openWebhookSecret(ciphertext, { organizationId, webhookId });
  graph.shownSecrets?.push({ webhookId, secret });
  return secret;
}
openSecret.isSync = true;

/**
 * Arguments of webhooks, in braces in comments: `{WebhookUrl}`, `{FollowedTypes}`, `{WebhookSecret}`.
 * Clients do not give the last one: it is a new secret, sealed for the webhook.
 */
export const WebhookInputsPlugin: GraphileConfig.Plugin = {
  name: 'WebhookInputsPlugin',
  after: ['UserMutationsPlugin', 'ChangeNamingPlugin'],

  schema: {
    hooks: {
      build(build) {
        const inputs = build.inputsFromContext as Map<string, InputFromContext>;
        inputs.set('WebhookUrl', { type: GraphQLString, read: readUrl });
        inputs.set('FollowedTypes', {
          // The enum is made later.
          get type() {
            const { getTypeByName } = build as GraphileBuild.Build;
            return new GraphQLList(new GraphQLNonNull(getTypeByName('FollowedType') as GraphQLEnumType));
          },
          read: (_graph, args, argument) => {
            const names = args[argument] as readonly string[] | null | undefined;
            return names && [...new Set(names)];
          },
        });
        inputs.set('WebhookSecret', { type: null, read: sealSecret });
        return build;
      },
    },
  },
};

const readUrl: InputFromContext['read'] = (graph, args, argument) => {
  assertScope(graph.scopes, 'app');
  const url = args[argument];
  if (typeof url !== 'string') return url;
  const problem = graph.problemOfWebhookUrl(url);
  if (problem) throw refusal('BAD_USER_INPUT', problem, { argument });
  return url;
};

/** `whsec_` and 24 random bytes, as Standard Webhooks say. */
const sealSecret: InputFromContext['read'] = (graph, { id }, _argument, names) => {
  assertScope(graph.scopes, 'app');
  const webhookId = names.includes('id') ? keyOf(id) : uuidv7();
  // Another check reports it.
  if (webhookId === null) return null;
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const ciphertext = graph.sealWebhookSecret(secret, { organizationId: graph.organizationId, webhookId });
  return { webhookId, ciphertext: ciphertext.toString('hex') };
};

function keyOf(id: unknown): string | null {
  const [type, key] = decodeNodeId(id) ?? [];
  return type === 'Webhook' ? String(key) : null;
}
