import { decodeId } from '../ids.ts';
import { followedTypes, typedWebhook } from './ids.ts';
import {
  badInput,
  type Call,
  DisagreementError,
  type Failure,
  generatedOf,
  notFound,
  type Outcome,
} from './outcome.ts';
import type { State, Webhook } from './state.ts';

export function webhookCreate(call: Call): Outcome {
  const failures: Failure[] = [];
  const url = readUrl(call.args, failures) ?? '';
  const typeNames = readTypeNames(call.args, failures) ?? null;
  if (failures.length > 0) return { failures };

  const { id, createdAt } = generatedOf(answered(call).webhook, 'Webhook');
  const webhook: Webhook = { organizationId: call.organizationId, id, url, typeNames, enabled: true, createdAt };
  return { state: put(call.state, webhook), payload: { webhook: typedWebhook(webhook), secret: newSecret(call) } };
}

export function webhookUpdate(call: Call): Outcome {
  const failures: Failure[] = [];
  const { args } = call;
  const webhook = find(call, failures);
  for (const name of ['url', 'enabled']) if (args[name] === null) failures.push(badInput(name));
  const values: Partial<Webhook> = {};
  const url = readUrl(args, failures);
  if (url !== undefined) values.url = url;
  const typeNames = readTypeNames(args, failures);
  if (typeNames !== undefined) values.typeNames = typeNames;
  if (typeof args.enabled === 'boolean') values.enabled = args.enabled;
  if (!webhook || failures.length > 0) return { failures };

  const next = { ...webhook, ...values };
  return { state: put(call.state, next), payload: { webhook: typedWebhook(next) } };
}

export function webhookDelete(call: Call): Outcome {
  const failures: Failure[] = [];
  const webhook = find(call, failures);
  if (!webhook) return { failures };
  const state = { ...call.state, webhooks: call.state.webhooks.filter(({ id }) => id !== webhook.id) };
  return { state, payload: { webhook: typedWebhook(webhook) } };
}

export function webhookRotateSecret(call: Call): Outcome {
  const failures: Failure[] = [];
  const webhook = find(call, failures);
  if (!webhook) return { failures };
  return { state: call.state, payload: { webhook: typedWebhook(webhook), secret: newSecret(call) } };
}

function find({ state, organizationId, args }: Call, failures: Failure[]): Webhook | undefined {
  const decoded = decodeId(String(args.id));
  if (!decoded) failures.push(badInput('id'));
  const webhook = state.webhooks.find(
    (candidate) =>
      candidate.organizationId === organizationId && decoded?.typeName === 'Webhook' && candidate.id === decoded.key,
  );
  if (decoded && !webhook) failures.push(notFound);
  return webhook;
}

/** The schema: "An https URL of a public address: at most 2,000 characters, without user and fragment." */
function readUrl(args: Call['args'], failures: Failure[]): string | undefined {
  if (typeof args.url !== 'string') return undefined;
  const url = URL.parse(args.url);
  const isAllowed =
    url?.protocol === 'https:' &&
    url.username === '' &&
    !args.url.includes('#') &&
    args.url.length <= 2000 &&
    !/^(127\.|10\.|localhost$)/.test(url.hostname);
  if (!isAllowed) failures.push(badInput('url'));
  return args.url;
}

function readTypeNames(args: Call['args'], failures: Failure[]): readonly string[] | null | undefined {
  const value = args.typeNames as readonly string[] | null | undefined;
  if (value && (value.length === 0 || value.some((name) => !followedTypes.includes(name))))
    failures.push(badInput('typeNames'));
  return value;
}

function newSecret(call: Call): string {
  const { secret } = answered(call);
  if (typeof secret !== 'string' || !/^whsec_\S{24,}$/.test(secret))
    throw new DisagreementError('a new secret', 'whsec_…', secret);
  return secret;
}

const answered = ({ answer }: Call) => (answer ?? {}) as { webhook?: unknown; secret?: unknown };

const put = (state: State, webhook: Webhook): State => ({
  ...state,
  webhooks: [...state.webhooks.filter(({ id }) => id !== webhook.id), webhook],
});
