import { z } from 'zod';
import { mobileAppGrants } from '../oauth/grants/grants.ts';
import { scopeNames } from '../token/scopes.ts';
import * as fields from './fields.ts';
import { formatPath, type Path, type Problem, ProvisioningError } from './rows.ts';

/**
 * Reads a provisioning document (docs/provisioning.md). Unknown keys are problems, too.
 *
 * @returns the document, or null when it breaks a rule. The outline has the valid values even then; the others are undefined, so that the
 * rest can be compared with itself and with the database
 */
export function parseDocument(source: unknown): { document: Document | null; outline: Outline; problems: Problem[] } {
  const parsed = strict.safeParse(source, { error: describeIssue });
  if (parsed.success) return { document: parsed.data, outline: parsed.data, problems: [] };
  return {
    document: null,
    outline: lenient.parse(source) as Outline,
    problems: parsed.error.issues.flatMap(toProblems),
  };
}

/** The JSON Schema of a document. It cannot express every rule: a document that fits it may still fail. */
export function documentJsonSchema() {
  const one = jsonSchemaOf(unit);
  const children = { type: 'array' as const, items: { $ref: unitReference }, description: 'The units below it.' };
  const $defs = { unit: { ...one, properties: { ...one.properties, children } } };
  return { ...z.toJSONSchema(strict, { io: 'input' }), $defs };
}

function jsonSchemaOf(part: z.ZodType) {
  const { $schema: _, ...schema } = z.toJSONSchema(part, { io: 'input' });
  return schema;
}

/** One application, by a document's rules. @throws {ProvisioningError} with every problem at once */
export function parseApplication(source: unknown): Application {
  const parsed = application.safeParse(source, { error: describeIssue });
  if (!parsed.success) throw new ProvisioningError(parsed.error.issues.flatMap(toProblems));
  return parsed.data;
}

/** A whole document; every field follows the rules of its column. */
export type Document = z.output<typeof strict>;

export type Application = z.output<typeof application>;
export type Unit = z.output<typeof unit>;
export type User = z.output<typeof user>;
export type Card = z.output<typeof card>;
export type Grant = z.output<typeof grantWithTime>;

/** The same shape, but any field may be missing. */
export type Outline = {
  readonly organizations: readonly {
    readonly name?: string | undefined;
    readonly applications: readonly Partial<Application>[];
    readonly units: readonly UnitOf<Partial<Unit>>[];
    readonly users: readonly UserOutline[];
  }[];
};

export type UserOutline = Omit<Partial<User>, 'accessibleUnits' | 'cards'> & {
  readonly accessibleUnits: readonly (Grant | undefined)[];
  readonly cards: readonly (Card | undefined)[];
};

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

const strict = z.strictObject({
  organizations: z.array(
    z.strictObject({
      name: fields.text,
      applications: z.array(application).default([]).describe('The clients that may ask for tokens.'),
      units: z
        .unknown()
        .default([])
        .transform((tree, context) => {
          const { units, problems } = readUnits(tree);
          for (const { path, message } of problems) context.addIssue({ code: 'custom', path: [...path], message });
          return units as UnitOf<Unit>[];
        })
        .meta({ type: 'array', items: { $ref: unitReference }, description: 'The tops of the tree of units.' }),
      users: z.array(user).default([]).describe('The people.'),
    }),
  ),
});

/** A unit that breaks a rule lacks that field. Then there is a problem, and no `Unit` is returned. */
function readUnits(tree: unknown): { units: UnitOf<Partial<Unit>>[]; problems: Problem[] } {
  return flattenUnits(tree, (own, report) => {
    const parsed = unit.safeParse(own, { error: describeIssue });
    if (parsed.success) return parsed.data;
    for (const { path, message } of parsed.error.issues.flatMap(toProblems)) report(path, message);
    return outlineOf(unit).parse(own) as Partial<Unit>;
  });
}

const lenient = outlineOf(strict, {
  organizations: listOf(
    outlineOf(strict.shape.organizations.element, {
      applications: listOf(outlineOf(application)),
      units: z
        .unknown()
        .default([])
        .transform((tree) => readUnits(tree).units),
      users: listOf(outlineOf(user, { accessibleUnits: listOf(ifValid(grant)), cards: listOf(ifValid(card)) })),
    }),
  ),
});

/** Keeps each valid field, and makes the others undefined, except for those whose outline is given. */
function outlineOf(object: z.ZodObject, outlines: Record<string, z.ZodType> = {}) {
  const fields = Object.entries(object.shape).map(([key, field]) => [key, ifValid(field)]);
  return z.preprocess(
    (value) => (isObject(value) ? value : {}),
    z.object({ ...Object.fromEntries(fields), ...outlines }),
  );
}

function listOf(element: z.ZodType) {
  return z.array(element).catch([]);
}

function ifValid(field: z.core.$ZodType) {
  return z.optional(field).catch(undefined);
}

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
export function findDuplicates({ organizations }: Outline): Problem[] {
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
        if (!card) continue;
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
function findTwoTimes(grants: readonly (Grant | undefined)[], path: Path): Problem[] {
  const first = new Map<string, { position: number; times: string }>();
  return grants.flatMap((grant, position) => {
    if (!grant) return [];
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
export type UnitOf<T> = T & {
  readonly parent: UnitOf<T> | null;
  /** The position among its siblings in the document. */
  readonly position: number;
  /** 1 at the top. */
  readonly depth: number;
};

/** No real tree is deeper; each level takes a statement or two. */
export const maxUnitDepth = 1000;

/**
 * Flattens nested `children` level by level, without recursion: a deep tree overflows no stack.
 *
 * @param read turns a unit without its children into its fields; it calls `report` with each problem
 */
export function flattenUnits<T extends object>(
  tree: unknown,
  read: (unit: unknown, report: (path: Path, message: string) => void) => T,
): { units: UnitOf<T>[]; problems: Problem[] } {
  const units: UnitOf<T>[] = [];
  const problems: Problem[] = [];
  const readList = (list: unknown, parent: UnitOf<T> | null) => {
    const depth = parent ? parent.depth + 1 : 1;
    if (!Array.isArray(list)) {
      problems.push({ path: childrenPath(parent), message: 'must be an array' });
    } else if (depth > maxUnitDepth && list.length > 0) {
      problems.push({ path: unitPath(parent).slice(0, 1), message: `units are nested at most ${maxUnitDepth} deep` });
    } else {
      for (const [position, element] of list.entries()) {
        const { children, ...fields } = isObject(element) ? element : {};
        const report = (below: Path, message: string) =>
          problems.push({ path: [...childrenPath(parent), position, ...below], message });
        const unit = { ...read(isObject(element) ? fields : element, report), parent, position, depth };
        units.push(unit);
        if (children !== undefined) pending.push([children, unit]);
      }
    }
  };

  const pending: [unknown, UnitOf<T> | null][] = [[tree, null]];
  // The list grows while the loop reads it.
  for (const [list, parent] of pending) readList(list, parent);
  return { units, problems };
}

/** The place of a unit below `units`, such as `[0].children[1]`. */
export function unitPath(unit: UnitOf<object> | null): Path {
  const path: PropertyKey[] = [];
  for (let at = unit; at; at = at.parent) path.unshift(...(at.parent ? ['children', at.position] : [at.position]));
  return path;
}

export const childrenPath = (parent: UnitOf<object> | null): Path => (parent ? [...unitPath(parent), 'children'] : []);

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
