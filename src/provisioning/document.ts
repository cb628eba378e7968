import { z } from 'zod';
import { mobileAppGrants } from '../oauth/grants/grants.ts';
import { scopeNames } from '../token/scopes.ts';
import * as fields from './fields.ts';
import { formatPath, type Path, type Problem, requireNoProblems } from './rows.ts';

/**
 * Reads a provisioning document (docs/provisioning.md). Unknown keys are problems, too.
 *
 * @throws {ProvisioningError} with every broken rule, or else with everything that the document says twice
 */
export function parseDocument(source: unknown): Document {
  const parsed = parseBy(document, source);
  requireNoProblems(findDuplicates(parsed));
  return parsed;
}

/** One application, by a document's rules. @throws {ProvisioningError} with every problem at once */
export const parseApplication = (source: unknown): Application => parseBy(application, source);

function parseBy<Schema extends z.ZodType>(schema: Schema, source: unknown): z.output<Schema> {
  const parsed = schema.safeParse(source, { error: describeIssue });
  requireNoProblems(parsed.error?.issues.flatMap(toProblems) ?? []);
  return parsed.data as z.output<Schema>;
}

/** The JSON Schema of a document. It cannot express every rule: a document that fits it may still fail. */
export function documentJsonSchema() {
  const one = jsonSchemaOf(unit);
  const children = { type: 'array' as const, items: { $ref: unitReference }, description: 'The units below it.' };
  const $defs = { unit: { ...one, properties: { ...one.properties, children } } };
  return { ...z.toJSONSchema(document, { io: 'input' }), $defs };
}

function jsonSchemaOf(part: z.ZodType) {
  const { $schema: _, ...schema } = z.toJSONSchema(part, { io: 'input' });
  return schema;
}

/** A whole document; every field follows the rules of its column. */
export type Document = z.output<typeof document>;

export type Application = z.output<typeof application>;
export type Unit = z.output<typeof unit>;
export type User = z.output<typeof user>;
export type Card = z.output<typeof card>;
export type Grant = z.output<typeof grantWithTime>;

const application = z.strictObject({
  name: fields.text,
  clientId: fields.clientId,
  clientSecret: fields.clientSecret.optional(),
  confidential: z.boolean().optional().describe('Whether it keeps a secret; `true` for a new application.'),
  scopes: z
    .array(z.enum(scopeNames))
    .min(1, 'must have at least one scope')
    // Sorted and without duplicates, so that equal sets are equal arrays.
    .transform((scopes) => [...new Set(scopes)].sort())
    .optional()
    .describe('What its tokens may be for; `["app"]` for a new application.'),
  redirectUris: z
    .array(fields.redirectUri)
    .max(50, 'must have at most 50 URIs')
    .refine((uris) => uris.join('').length <= 50_000, 'must have at most 50,000 characters in all')
    .optional()
    .describe('Where the authorization-code flow may lead back to.'),
  mobileApp: z
    .strictObject({ authenticationType: z.enum(mobileAppGrants).describe('What people show.') })
    .nullable()
    .optional()
    .describe('Set if it signs people in by itself; `null` ends that.'),
});

const ofEveryCard = {
  name: fields.text,
  externalIdentifier: fields.externalIdentifier
    .optional()
    .describe('What the client system calls it; unique in the organization, compared exactly.'),
};

const card = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('NfcCard'), ...ofEveryCard, nfcIdentifier: fields.nfcIdentifier }),
  z.strictObject({
    type: z.literal('BeaconCard'),
    ...ofEveryCard,
    proximityUuid: fields.proximityUuid,
    major: fields.beaconNumber,
    minor: fields.beaconNumber,
  }),
  z.strictObject({ type: z.literal('IdentificationCode'), ...ofEveryCard }),
]);

const grantWithTime = z
  .strictObject({
    unit: fields.externalIdentifier,
    validFrom: fields.time.nullable().optional().describe('From when it gives access; `null`: ever since.'),
    validUntil: fields.time.nullable().optional().describe('Until when, exclusive; `null`: for ever.'),
    source: fields.source.optional(),
  })
  .refine(({ validFrom, validUntil }) => !validFrom || !validUntil || Date.parse(validFrom) < Date.parse(validUntil), {
    path: ['validUntil'],
    message: 'must be after validFrom',
  });

/** A plain name is a grant that was given by hand, whose time stays as it is. */
const grant = z
  .unknown()
  .transform((value, context): Grant => {
    const parsed = isObject(value)
      ? grantWithTime.safeParse(value, { error: describeIssue })
      : fields.externalIdentifier.transform((unit) => ({ unit })).safeParse(value, { error: describeIssue });
    if (parsed.success) return parsed.data;
    for (const { path, message } of parsed.error.issues.flatMap(toProblems))
      context.addIssue({ code: 'custom', path: [...path], message });
    return z.NEVER;
  })
  .meta({ anyOf: [fields.externalIdentifier, grantWithTime].map((choice) => jsonSchemaOf(choice)) });

const user = z.strictObject({
  externalIdentifier: fields.externalIdentifier,
  fullName: fields.text,
  email: fields.email,
  locale: fields.locale.optional(),
  timeZone: fields.timeZone.optional(),
  password: fields.password.optional(),
  externalAuthenticationToken: fields.externalAuthenticationToken.nullable().optional(),
  accessibleUnits: z
    .array(grant)
    .default([])
    .describe(
      'Units that the user may access, each with all below it: their names, or objects with a time and a source.',
    ),
  cards: z.array(card).default([]).describe('Recognised by `externalIdentifier`; without one by `type` and `name`.'),
});

const unitReference = '#/$defs/unit';

/** Without `children`, since the tree is flattened. */
const unit = z.strictObject({ externalIdentifier: fields.externalIdentifier, name: fields.text });

const document = z.strictObject({
  organizations: z.array(
    z.strictObject({
      name: fields.text,
      applications: z.array(application).default([]).describe('The clients that may ask for tokens.'),
      units: z
        .unknown()
        .default([])
        .transform((tree, context) => {
          const { units, problems } = flattenUnits(tree);
          for (const { path, message } of problems) context.addIssue({ code: 'custom', path: [...path], message });
          return units;
        })
        .meta({ type: 'array', items: { $ref: unitReference }, description: 'The tops of the tree of units.' }),
      users: z.array(user).default([]).describe('The people.'),
    }),
  ),
});

/** The problem and the rule, without the value, since that may be a secret. */
function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${withArticle(issue.expected)}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'invalid_union':
      return issue.note ? `must be ${cardTypes}` : undefined;
    default:
      return undefined;
  }
}

const cardTypes = '"NfcCard", "BeaconCard" or "IdentificationCode"';

const withArticle = (type: string) => `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;

/** An object with three unknown keys is one issue but three problems. */
function toProblems(issue: z.core.$ZodIssue): Problem[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, message: issue.message }];
  return issue.keys.map((key) => ({ path: [...issue.path, key], message: 'is not known' }));
}

/**
 * Duplicates within one document: the second place is the problem, and names the first.
 * E-mail addresses are compared without regard to case, everything else exactly.
 */
function findDuplicates({ organizations }: Document): Problem[] {
  const problems: Problem[] = [];
  const once = () => {
    const places = new Map<string, Path>();
    return (value: string | null | undefined, path: Path) => {
      if (value === null || value === undefined) return;
      const first = places.get(value);
      if (first) problems.push({ path, message: `must not be that of ${formatPath(first)}` });
      else places.set(value, path);
    };
  };

  const seeOrganization = once();
  const seeClientId = once();
  for (const [index, organization] of organizations.entries()) {
    const path = ['organizations', index];
    seeOrganization(organization.name, [...path, 'name']);

    for (const [position, { clientId }] of organization.applications.entries()) {
      seeClientId(clientId, [...path, 'applications', position, 'clientId']);
    }
    const seeUnit = once();
    for (const unit of organization.units) {
      seeUnit(unit.externalIdentifier, [...path, 'units', ...unitPath(unit), 'externalIdentifier']);
    }
    const [seeUser, seeEmail, seeToken] = [once(), once(), once()];
    const [seeIdentifier, seeChip, seeBeacon] = [once(), once(), once()];
    for (const [position, user] of organization.users.entries()) {
      const userPath = [...path, 'users', position];
      seeUser(user.externalIdentifier, [...userPath, 'externalIdentifier']);
      seeEmail(user.email?.toLowerCase(), [...userPath, 'email']);
      seeToken(user.externalAuthenticationToken, [...userPath, 'externalAuthenticationToken']);
      problems.push(...findTwoTimes(user.accessibleUnits, [...userPath, 'accessibleUnits']));
      const seeCard = once();
      for (const [cardPosition, card] of user.cards.entries()) {
        const cardPath = [...userPath, 'cards', cardPosition];
        if (card.externalIdentifier === undefined) seeCard(`${card.type} ${card.name}`, [...cardPath, 'name']);
        seeIdentifier(card.externalIdentifier, [...cardPath, 'externalIdentifier']);
        if (card.type === 'NfcCard') seeChip(card.nfcIdentifier, [...cardPath, 'nfcIdentifier']);
        if (card.type === 'BeaconCard')
          seeBeacon(`${card.proximityUuid} ${card.major} ${card.minor}`, [...cardPath, 'proximityUuid']);
      }
    }
  }
  return problems;
}

/** A user, a unit and a source have one grant, which has one time. Twice the same is harmless. */
function findTwoTimes(grants: readonly Grant[], path: Path): Problem[] {
  const first = new Map<string, { position: number; times: string }>();
  return grants.flatMap((grant, position) => {
    const key = JSON.stringify([grant.unit, grant.source ?? null]);
    const times = JSON.stringify([grant.validFrom, grant.validUntil]);
    const known = first.get(key);
    if (!known) first.set(key, { position, times });
    return known && known.times !== times
      ? [{ path: [...path, position], message: `must not be that of ${formatPath([...path, known.position])}` }]
      : [];
  });
}

/** A unit of the document in the flat list: after its parent, and level by level. */
export type PlacedUnit = Unit & {
  readonly parent: PlacedUnit | null;
  /** The position among its siblings in the document. */
  readonly position: number;
  /** 1 at the top. */
  readonly depth: number;
};

/** No real tree is deeper; each level takes a statement or two. */
const maxUnitDepth = 1000;

/** Flattens nested `children` level by level, without recursion: a deep tree overflows no stack. */
function flattenUnits(tree: unknown): { units: PlacedUnit[]; problems: Problem[] } {
  const units: PlacedUnit[] = [];
  const problems: Problem[] = [];
  const pending: [unknown, PlacedUnit | null][] = [[tree, null]];
  // The list grows while the loop reads it.
  for (const [list, parent] of pending) {
    const depth = parent ? parent.depth + 1 : 1;
    if (!Array.isArray(list)) {
      problems.push({ path: childrenPath(parent), message: 'must be an array' });
    } else if (depth > maxUnitDepth && list.length > 0) {
      problems.push({ path: unitPath(parent).slice(0, 1), message: `units are nested at most ${maxUnitDepth} deep` });
    } else {
      for (const [position, element] of list.entries()) {
        const { children, ...fields } = isObject(element) ? element : {};
        const { data, error } = unit.safeParse(isObject(element) ? fields : element, { error: describeIssue });
        for (const { path, message } of error?.issues.flatMap(toProblems) ?? [])
          problems.push({ path: [...childrenPath(parent), position, ...path], message });
        // Without its fields only where there is a problem.
        const placed = { ...(data as Unit), parent, position, depth };
        units.push(placed);
        if (children !== undefined) pending.push([children, placed]);
      }
    }
  }
  return { units, problems };
}

/** The place of a unit below `units`, such as `[0].children[1]`. */
export function unitPath(unit: PlacedUnit | null): Path {
  const path: PropertyKey[] = [];
  for (let at = unit; at; at = at.parent) path.unshift(...(at.parent ? ['children', at.position] : [at.position]));
  return path;
}

const childrenPath = (parent: PlacedUnit | null): Path => (parent ? [...unitPath(parent), 'children'] : []);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
