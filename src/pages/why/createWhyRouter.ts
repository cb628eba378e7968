import type { IncomingHttpHeaders } from 'node:http';
import { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from 'express';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import {
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  print,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'postgraphile/graphql';
import { z } from 'zod';
import { findNodeId } from '../../../plugins/NodeIdPlugin.ts';
import type { RowOrigins } from '../../../plugins/RowOriginsPlugin.ts';
import type { Config } from '../../config.ts';
import { onlyRow, rolledBack } from '../../database/pool/transactions.ts';
import { isRetryable } from '../../database/pool/unavailable.ts';
import { hasCode } from '../../errors/errors.ts';
import { isNestedTooDeep } from '../../graphql/document/document.ts';
import { RequestError } from '../../graphql/request.ts';
import { unauthenticated } from '../../graphql/response.ts';
import { requestIdOf } from '../../http/middleware.ts';
import { createBodyReader, decodeUtf8, isJson, weighJson } from '../../http/requestBody.ts';
import { readBearer, verifyBearer } from '../../token/accessTokens.ts';
import { scopes, scopesByRank } from '../../token/scopes.ts';
import type { Claims } from '../../token/settings.ts';
import { isFromThisMachine } from '../demo.ts';

/** Works with connections as the owner. */
export type WithOwner = <T>(work: (owner: Pool) => Promise<T>) => Promise<T>;

type WhyContext = {
  readonly config: Config;
  /** Connections as the authenticator. */
  readonly pool: Pool;
  readonly schema: GraphQLSchema;
  readonly withOwner: WithOwner;
};

/**
 * Access explanation for developers: which policy shows or hides an object of an answer.
 * It tells that hidden rows of the token's organization exist, so it is made only where {@link WithOwner} is given, and answers only this
 * machine (404 otherwise).
 * The bearer token says about whom it is asked. Nothing is changed, and no cookie counts, so that another site's page learns nothing.
 */
export function createWhyRouter({ config, pool, schema, withOwner }: WhyContext): Router {
  const nodeKeys = schema.extensions.nodeKeys;
  const origins = schema.extensions.rowOrigins();

  const answerWhy: RequestHandler = async (request, response) => {
    const { id, field } = parseBody(questionSchema, request.body);
    const claims = await claimsOf(pool, request, response);
    const [type = '', ...values] = findNodeId(nodeKeys, id) ?? [];
    const origin = origins.get(type);
    if (!origin) throw new Unanswerable('That id is none of this service: copy one from an answer.');
    const key = JSON.stringify(Object.fromEntries(origin.key.map((column, index) => [column, values[index]])));
    const row = { relation: origin.relation, key };
    const principal = principalOf(claims);
    const explanation = await withOwner((owner) =>
      rolledBack(owner, (client) =>
        field === undefined
          ? explainRow(client, principal, type, row)
          : explainNull(client, principal, origins, { type, row, field }),
      ),
    );
    response.json(explanation);
  };

  const answerOrganization: RequestHandler = async (request, response) => {
    const { organizationId } = await claimsOf(pool, request, response);
    const text = 'select name from app_hidden.organizations where id = $1';
    const { rows } = await withOwner((owner) => owner.query<{ name: string }>(text, [organizationId]));
    response.json({ organization: rows[0]?.name ?? null });
  };

  const answerDocument: RequestHandler = (request, response) => {
    const { query, variables } = parseBody(documentSchema, request.body);
    response.json(withIds(schema, query, variables ?? {}, config.limits.tokens));
  };

  const onlyHere: RequestHandler = (request, _response, next) =>
    next(isFromThisMachine(config, request) ? undefined : 'router');
  const readBody = createBodyReader(config.limits.body);
  const read: RequestHandler = async (request, response, next) => {
    request.body = parseJson(request.headers, await readBody(request, response));
    next();
  };
  return Router()
    .use('/graphiql/why', onlyHere)
    .post('/graphiql/why', read, answerWhy)
    .post('/graphiql/why/document', read, answerDocument)
    .get('/graphiql/why/organization', answerOrganization)
    .use('/graphiql/why', answerProblem);
}

/** A question that has no answer; its message is for the developer. */
class Unanswerable extends Error {}

const questionSchema = z.object({ id: z.string().max(10_000), field: z.string().max(1000).optional() });

const documentSchema = z.object({ query: z.string(), variables: z.record(z.string(), z.unknown()).nullish() });

function parseBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const { data, error } = schema.safeParse(body);
  if (error) throw new Unanswerable(`The question cannot be read: ${z.prettifyError(error)}`);
  return data as T;
}

function parseJson(headers: IncomingHttpHeaders, body: Buffer): unknown {
  const { excess } = weighJson(body);
  if (excess !== null) throw new Unanswerable(`The question has ${excess}.`);
  try {
    if (isJson(headers)) return JSON.parse(decodeUtf8(body) ?? '');
  } catch {}
  throw new Unanswerable('The question cannot be read: it is no JSON.');
}

/** @throws {RequestError} 401 without a token that is valid now */
async function claimsOf(pool: Pool, request: Request, response: Response): Promise<Claims> {
  const bearer = readBearer(request);
  const claims = bearer.kind === 'token' ? await verifyBearer(pool, bearer.token, requestIdOf(response)) : null;
  if (!claims) throw unauthenticated(bearer.kind);
  return claims;
}

/** As `audit.principals` names the holder of a token. */
function principalOf({ scopes: held, userId, clientId }: Claims): string {
  const scope = scopesByRank.find((name) => held.includes(name)) ?? 'basic';
  return `${scope}:${scopes[scope].holder === 'user' ? userId : clientId}`;
}

const answerProblem: ErrorRequestHandler = (error, _request, response, next) => {
  if (error instanceof RequestError) response.status(error.status).set(error.headers).json({ error: error.message });
  else if (error instanceof Unanswerable || error instanceof GraphQLError)
    response.status(400).json({ error: error.message });
  else if (error instanceof NoSuchRowError || hasCode(error, 'P0002', 'P0003'))
    response.status(404).json({ error: "No row of this token's organization has this id: it may have been deleted." });
  // Such as an error in a policy, which its developer wants to read.
  else if (error instanceof DatabaseError && !isRetryable(error))
    response.status(400).json({ error: `PostgreSQL: ${error.message} (SQLSTATE ${error.code})` });
  else next(error);
};

/** A row by its table, written as a `regclass`, and its key as JSON. */
type RowKey = { readonly relation: string; readonly key: string };

type Explanation = {
  readonly sentences: readonly string[];
  /** Each part of each policy's expression, as it holds for the row when the principal asks. */
  readonly parts: readonly { readonly policy: string; readonly part: string; readonly holds: boolean }[];
};

/**
 * Access explanation: whether a principal sees a row, by trying, and which policy decided (`audit.explain_access`).
 *
 * @param client as the owner, in a transaction that is rolled back
 * @param type what the row is in the graph
 * @throws {NoSuchRowError} for a row that is not known to be of the principal's organization, and that the principal does not see
 * @throws PostgreSQL's error when there is no such row or principal
 */
async function explainRow(
  client: PoolClient,
  principal: string,
  type: string,
  { relation, key }: RowKey,
): Promise<Explanation> {
  const [access] = (await client.query<Access>(accessText, [principal, relation, key])).rows;
  if (!access || !(access.isOwn || access.outcome === 'allowed')) throw new NoSuchRowError();
  const object = access.label === null ? `this ${type}` : `the ${type} “${access.label}”`;
  const parts = access.policies.flatMap(({ policy, parts }) => parts.map((part) => ({ policy, ...part })));
  return { sentences: describeAccess(access, object, tableName(relation)), parts };
}

/** Another organization's row is refused like one that is not there, so that its existence stays unknown. */
class NoSuchRowError extends Error {}

/** For people: without the quotes of a `regclass`. */
const tableName = (relation: string): string => relation.replaceAll('"', '');

type Policy = {
  readonly policy: string;
  readonly rule: string | null;
  readonly permissive: boolean;
  readonly parts: readonly { readonly part: string; readonly holds: boolean }[];
};

type Access = {
  readonly name: string;
  readonly role: string;
  readonly outcome: string;
  /** Whether the row has the organization of the principal; null when it has no such column. */
  readonly isOwn: boolean | null;
  /** What people call the row; null when it has no name. */
  readonly label: string | null;
  readonly through: string | null;
  readonly policies: readonly Policy[];
};

/** Of `audit.explain_access` what decides about `select`. Each of its rows has the outcome of the same attempt. */
const accessText = `
  select
    who.name, who.role, value ->> 'organization_id' = who.organization_id::text as "isOwn", coalesce(value ->> 'full_name', value ->> 'name') as label,
    audit.reason_of(who, $2::text::regclass, value) as through, access.outcome, access.policies
  from audit.find_principal($1) as who, audit.find_row($2::text::regclass, $3) as value, lateral (
    select
      coalesce(min(e.outcome), 'not granted') as outcome,
      coalesce(jsonb_agg(to_jsonb(e) order by e.policy) filter (where e.policy is not null), '[]') as policies
    from (
      select
        explained.outcome, explained.policy, explained.rule, coalesce(p.permissive, true) as permissive,
        jsonb_agg(jsonb_build_object('part', explained.part, 'holds', explained.holds)) as parts
      from audit.explain_access($1, $2::text::regclass, $3) as explained
      left join audit.policies p on p.relation = $2::text::regclass and p.policy = explained.policy
      where explained.command = 'select'
      group by explained.outcome, explained.policy, explained.rule, p.permissive
    ) as e
  ) as access
  where coalesce(value ->> 'organization_id' = who.organization_id::text, true)`;

/** PostgreSQL's rule: a row is seen when one permissive policy holds, and every restrictive one. */
function describeAccess({ name, role, outcome, through, policies }: Access, object: string, table: string): string[] {
  const who = `${name} (${role})`;
  const permissive = policies.filter((policy) => policy.permissive);
  if (outcome === 'allowed') {
    const granting = permissive.filter(holds).map(inWords).join(' and ');
    const why = granting ? `${granting} on ${table} lets it through` : `no policy hides rows of ${table}`;
    const sentence = `${who} sees ${object}, since ${why}.`;
    return through === null ? [sentence] : [sentence, `Access comes from: ${through}.`];
  }
  const hidden = `${who} does not see ${object}`;
  if (outcome === 'not granted') return [`${hidden}: the role has no right to select from ${table}.`];
  const hiding = policies.find((policy) => !policy.permissive && !holds(policy));
  if (hiding) return [`${hidden}: ${inWords(hiding)} on ${table} hides it, and every row must pass that policy.`];
  if (permissive.length === 0) return [`${hidden}: no policy on ${table} is for this role.`];
  return [
    `${hidden}: no policy on ${table} lets it through.`,
    ...permissive.map((policy) => `${inWords(policy)} does not hold.`),
  ];
}

const holds = ({ parts }: Policy) => parts.every((part) => part.holds);

const inWords = ({ policy, rule }: Policy) =>
  `${policy} (${rule === null ? 'without a comment' : `“${rule.replace(/\.$/, '')}”`})`;

/**
 * Explains a null of an answer: the row that the field leads to is hidden or absent, or the column is empty.
 *
 * @param client as the owner, in a transaction that is rolled back
 * @param type of the object whose field is null
 * @throws {NoSuchRowError} as {@link explainRow} does, for the row and for the one that the field leads to
 * @throws PostgreSQL's error when there is no such row or principal
 */
async function explainNull(
  client: PoolClient,
  principal: string,
  origins: RowOrigins,
  { type, row, field }: { readonly type: string; readonly row: RowKey; readonly field: string },
): Promise<Explanation> {
  // The answer that has the null has shown its row. A row that is not shown may be another organization's.
  await explainRow(client, principal, type, row);
  const origin = origins.get(type);
  const reference = origin?.references.get(field);
  const column = origin?.columns.get(field);
  const columns = reference?.columns.map(([local]) => local) ?? (column === undefined ? [] : [column]);
  if (columns.length === 0) return said(`${type}.${field} is computed: its description says what null means.`);

  const found = await client.query<{ value: Record<string, unknown> }>(rowText, [row.relation, row.key]);
  const { value } = onlyRow(found);
  const empty = columns.find((name) => value[name] === null);
  const table = tableName(row.relation);
  if (empty !== undefined)
    return said(
      `${type}.${field} is null in the row itself: its ${empty} in ${table} is empty. No policy hides anything.`,
    );
  if (!reference)
    return said(
      `The row has a value in ${columns.join()} of ${table}. It came after the answer, or this caller may not read it.`,
    );

  const key = Object.fromEntries(reference.columns.map(([local, remote]) => [remote, value[local]]));
  const target = [...origins].find(([, { relation }]) => relation === reference.relation)?.[0] ?? field;
  return explainRow(client, principal, target, { relation: reference.relation, key: JSON.stringify(key) });
}

const said = (sentence: string): Explanation => ({ sentences: [sentence], parts: [] });

const rowText = 'select audit.find_row($1::text::regclass, $2) as value';

/** What a tool needs to find the rows behind an answer. */
type Traced = {
  /** The document, which selects the id of each object too, under {@link idKey}. */
  readonly query: string;
  readonly idKey: string;
  /** By key of the answer: the fields that may have it. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** By key of the answer: the id that `node(id:)` was asked for. */
  readonly asked: Readonly<Record<string, string>>;
};

/**
 * Query rewriting: adds the id, under a name of its own, to each selection of objects that have one.
 * Nothing else in the answer changes: without these keys, it is the answer to the original document.
 *
 * @param maxTokens the service's own limit
 * @throws {GraphQLError} when the document cannot be parsed, has more tokens, or is nested too deep
 */
export function withIds(
  schema: GraphQLSchema,
  text: string,
  variables: Readonly<Record<string, unknown>>,
  maxTokens: number,
): Traced {
  if (isNestedTooDeep(text, maxTokens)) throw new GraphQLError('The document is nested too deep.');
  const document = parse(text, { maxTokens });
  const types = new TypeInfo(schema);
  // Maps, since a key may be `constructor`.
  const fields = new Map<string, Set<string>>();
  const asked = new Map<string, string>();
  const traced: DocumentNode = visit(
    document,
    visitWithTypeInfo(types, {
      Field(node) {
        const key = node.alias?.value ?? node.name.value;
        fields.set(key, (fields.get(key) ?? new Set<string>()).add(node.name.value));
        const id = types.getParentType() === schema.getQueryType() ? idOf(node, variables) : null;
        if (id !== null) asked.set(key, id);
      },
      SelectionSet: {
        leave(node) {
          const parent = types.getParentType();
          if (!hasId(parent ?? undefined)) return undefined;
          return { ...node, selections: [...node.selections, idNode] };
        },
      },
    }),
  );
  return {
    query: print(traced),
    idKey,
    fields: Object.fromEntries(Array.from(fields, ([key, names]) => [key, [...names]])),
    asked: Object.fromEntries(asked),
  };
}

function hasId(type: ReturnType<TypeInfo['getParentType']> | undefined): boolean {
  if (!type || !isCompositeType(getNamedType(type))) return false;
  return (isObjectType(type) || isInterfaceType(type)) && 'id' in type.getFields();
}

/** No field of a schema begins with two underscores (GraphQL specification, 2.1.9), and hardly an alias. */
const idKey = '__id';

const idNode: FieldNode = {
  kind: Kind.FIELD,
  alias: { kind: Kind.NAME, value: idKey },
  name: { kind: Kind.NAME, value: 'id' },
};

/** The id that the field `node` is asked for, in the document or in a variable. */
function idOf({ name, arguments: given }: FieldNode, variables: Readonly<Record<string, unknown>>): string | null {
  const value = name.value === 'node' ? given?.find((argument) => argument.name.value === 'id')?.value : undefined;
  const id = value?.kind === Kind.VARIABLE ? variables[value.name.value] : value;
  if (typeof id === 'string') return id;
  return value?.kind === Kind.STRING ? value.value : null;
}
