import { z } from 'zod';

/** May the subject do this with the resource? `at` is a time for PostgreSQL; null for now. */
export type Evaluation = {
  readonly subject: Entity;
  readonly action: string;
  readonly resource: Entity;
  readonly at: string | null;
};

export type Entity = { readonly type: string; readonly id: string };

/** When the answer ends before the last evaluation. */
export type Semantic = (typeof semantics)[number];

export type Evaluations = { readonly evaluations: readonly Evaluation[]; readonly semantic: Semantic };

/** The body of an Access Evaluation request (AuthZEN section 6.1). @throws {AuthzenError} 400 */
export function readEvaluation(text: string, members: number): Evaluation {
  return complete(parseBy(parts, parse(text, members)), 'The body');
}

/**
 * The body of an Access Evaluations request (AuthZEN section 7.1), with the defaults from its top.
 * Null when it has no evaluations, and so is the body of a single one.
 *
 * @throws {AuthzenError} 400
 */
export function readEvaluations(text: string, members: number): Evaluations | null {
  const body = parse(text, members);
  // Before each is read, which takes long for many.
  if ('evaluations' in body && Array.isArray(body.evaluations) && body.evaluations.length > maxEvaluations)
    throw new AuthzenError(400, `There are more than ${maxEvaluations} evaluations; send them in several requests.`);
  const { evaluations = [] } = parseBy(list, body);
  if (evaluations.length === 0) return null;
  const { options = {} } = parseBy(withOptions, body);
  const defaults = parseBy(parts, body);
  return {
    evaluations: evaluations.map((one, index) => complete({ ...defaults, ...one }, `evaluations[${index}]`)),
    semantic: options.evaluations_semantic ?? 'execute_all',
  };
}

const maxEvaluations = 100;
const semantics = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const;

const missingOr = (otherwise: string) => (issue: { readonly input?: unknown }) =>
  issue.input === undefined ? 'is missing' : otherwise;
const object = missingOr('must be an object');
// Where PostgreSQL keeps no U+0000, and a surrogate alone becomes another character.
const text = z
  .string({ error: missingOr('must be a string') })
  .refine((value) => !value.includes('\0') && value.isWellFormed(), { error: 'must be text without U+0000' });
const properties = z.object({}, { error: object }).optional();
const entity = z.object({ type: text, id: text, properties }, { error: object });
const time = z.string({ error: isNoTime }).transform((value, issues) => {
  const read = readTime(value);
  if (read === null) issues.addIssue({ code: 'custom', message: isNoTime() });
  return read;
});
const parts = z.object(
  {
    subject: entity.optional(),
    action: z.object({ name: text, properties }, { error: object }).optional(),
    resource: entity.optional(),
    context: z.object({ time: time.optional() }, { error: object }).optional(),
  },
  { error: object },
);
const list = z.object({ evaluations: z.array(parts, { error: 'must be an array' }).optional() });
const withOptions = z.object({
  options: z
    .object(
      { evaluations_semantic: z.enum(semantics, { error: `must be ${semantics.join(', ')}` }).optional() },
      { error: object },
    )
    .optional(),
});

function isNoTime(): string {
  return 'must be a time as in RFC 3339, such as 2026-01-31T08:30:00Z';
}

function complete({ subject, action, resource, context }: z.infer<typeof parts>, place: string): Evaluation {
  if (subject && action && resource) return { subject, action: action.name, resource, at: context?.time ?? null };
  const missing = Object.entries({ subject, action, resource }).filter(([, part]) => !part);
  throw new AuthzenError(400, `${place} has no ${missing.map(([name]) => name).join(', no ')}.`);
}

/** @param members how many the text has */
function parse(text: string, members: number): object {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new AuthzenError(400, 'The body is not JSON.');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new AuthzenError(400, 'The body must be a JSON object.');
  // `JSON.parse` keeps the last of two members of a name, where another parser keeps the first (RFC 7493 section 2.3).
  if (countMembers(parsed) !== members)
    throw new AuthzenError(400, 'A name is twice in an object of the body; send each once.');
  return parsed;
}

function parseBy<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const { success, error, data } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  const path = issue?.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('') ?? '';
  throw new AuthzenError(400, `${path.slice(1) || 'The body'} ${issue?.message}.`);
}

/** Without recursion: a value may be nested too deep for it. */
function countMembers(parsed: unknown): number {
  let count = 0;
  const left: unknown[] = [parsed];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const inner = Object.values(value);
    if (!Array.isArray(value)) count += inner.length;
    for (const one of inner) left.push(one);
  }
  return count;
}

/**
 * Reads a time of RFC 3339, whose seconds may be absent, as in the examples of AuthZEN; null when it is another text.
 * The result is in UTC, in words that PostgreSQL reads whatever its settings: it knows no year 0, and no offset of more than 15 hours.
 * Decimals beyond microseconds are cut: no grant begins or ends between two microseconds.
 */
export function readTime(text: string): string | null {
  const [, year = '', month, day, hour, minute, second = '00', decimals = '', offset = ''] = pattern.exec(text) ?? [];
  if (year === '') return null;
  const numbers = [year, month, day, hour, minute].map(Number) as [number, number, number, number, number];
  const [, , date, hours, minutes] = numbers;
  const [offsetHours = 0, offsetMinutes = 0] = offset.slice(1).split(':').map(Number);
  const local = toDate(numbers);
  if (local.getUTCDate() !== date || hours > 23 || minutes > 59 || offsetHours > 23 || offsetMinutes > 59) return null;

  const direction = offset.startsWith('-') ? 1 : -1;
  local.setUTCMinutes(local.getUTCMinutes() + direction * (60 * offsetHours + offsetMinutes));
  if (Number(second) > 59 && !(second === '60' && isEndOfMonth(local))) return null;
  local.setUTCSeconds(Number(second));
  return inUtc(local, decimals);
}

const pattern = /^(\d{4})-(0[1-9]|1[0-2])-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:[Zz]|([+-]\d\d:\d\d))$/;

function toDate([year, month, day, hour, minute]: readonly [number, number, number, number, number]): Date {
  const date = new Date(0);
  // `Date.UTC` takes the years before 100 for others.
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute);
  return date;
}

/** Where a leap second may be (RFC 3339 appendix D). */
const isEndOfMonth = (date: Date) => new Date(date.getTime() + 60_000).toISOString().endsWith('-01T00:00:00.000Z');

function inUtc(date: Date, decimals: string): string {
  const year = date.getUTCFullYear();
  const padded = String(year > 0 ? year : 1 - year).padStart(4, '0');
  const rest = date.toISOString().slice(-20, -5);
  return `${padded}${rest}.${decimals.slice(0, 6).padEnd(6, '0')}Z${year > 0 ? '' : ' BC'}`;
}

/**
 * A refusal of a whole request (AuthZEN section 10.1.2): its status, its headers, and its message as the body.
 * The message has nothing that the client sent.
 */
export class AuthzenError extends Error {
  override name = 'AuthzenError';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}
