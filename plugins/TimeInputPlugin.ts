import { type PgCodec, TYPES } from 'postgraphile/@dataplan/pg';
import {
  type GraphQLInputType,
  getNullableType,
  isInputObjectType,
  isListType,
  isScalarType,
} from 'postgraphile/graphql';
import { baseOf, codecOfScalar } from './values.ts';

/**
 * Input validation of dates and times: ISO 8601 alone.
 * PostgreSQL reads much more: it replaces `tomorrow` by a time, and completes `January 8` by the present year. A client's mistake would
 * become the end of a grant.
 */
export const TimeInputPlugin: GraphileConfig.Plugin = {
  name: 'TimeInputPlugin',

  schema: {
    hooks: {
      GraphQLScalarType(config, build) {
        const codec = codecOfScalar(build, config.name);
        const timeForm = codec && forms.get(baseOf(codec));
        if (!timeForm) return config;
        const description = codec.domainOfCodec ? (config.description ?? null) : timeForm.description;
        return { ...config, description, extensions: { ...config.extensions, timeForm } };
      },
    },
  },
};

type Form = {
  readonly pattern: RegExp;
  readonly example: string;
  /** Of the type; a domain has its own. */
  readonly description: string;
};

// The service reads what it writes: years before Christ, and times without end.
const date = String.raw`\d{4,7}-\d\d-\d\d`;
const time = String.raw`\d\d:\d\d(:\d\d(\.\d+)?)?`;
const offset = String.raw` ?(Z|[+-]\d\d(:?\d\d(:?\d\d)?)?)`;
const ofDay: Form = {
  pattern: new RegExp(`^(${date}([T ]${time}(${offset})?)?( BC)?|-?infinity)$`, 'i'),
  example: 'a date such as 2026-01-31',
  description: 'A date in the form of ISO 8601, such as `2026-01-31`, or `infinity` or `-infinity` without one.',
};
const forms: ReadonlyMap<PgCodec, Form> = new Map<PgCodec, Form>([
  [TYPES.date, ofDay],
  ...[TYPES.timestamp, TYPES.timestamptz].map((codec): [PgCodec, Form] => [
    codec,
    {
      ...ofDay,
      example: 'a time such as 2026-01-31T08:30:00Z',
      description:
        'A date and a time in the form of ISO 8601, such as `2026-01-31T08:30:00Z`. One without an offset is in UTC. `infinity` or `-infinity` stand for none.',
    },
  ]),
  ...[TYPES.time, TYPES.timetz].map((codec): [PgCodec, Form] => [
    codec,
    {
      pattern: new RegExp(`^${time}(${offset})?$`, 'i'),
      example: 'a time of day such as 08:30:00',
      description: 'A time of day in the form of ISO 8601, such as `08:30:00`.',
    },
  ]),
]);

/** Returns what is wrong with the dates and times in a value, or null. The value may be null; `path` names it. */
type Check = (value: unknown, path: string) => string | null;

/** The check of an argument's values; null when no part of them is a date or a time. */
export function timeCheckOf(argumentType: GraphQLInputType): Check | null {
  const type = getNullableType(argumentType);
  const known = checks.get(type);
  if (known !== undefined) return known;
  // A type may have itself for a part.
  checks.set(type, null);
  const check = checkOf(type);
  checks.set(type, check);
  return check;
}

const checks = new WeakMap<GraphQLInputType, Check | null>();

function checkOf(type: GraphQLInputType): Check | null {
  if (isScalarType(type)) {
    const form = type.extensions.timeForm as Form | undefined;
    return form ? (value, path) => (isOf(form, value) ? null : `${path} must be ${form.example}.`) : null;
  }
  if (isListType(type)) {
    const check = timeCheckOf(type.ofType);
    return (
      check && ((values, path) => firstOf(Object.values(values ?? {}), (one, nth) => check(one, `${path}[${nth}]`)))
    );
  }
  if (!isInputObjectType(type)) return null;
  const fields = Object.values(type.getFields()).flatMap((field) => {
    const check = timeCheckOf(field.type);
    return check ? [{ name: field.name, check }] : [];
  });
  if (fields.length === 0) return null;
  return (object, path) =>
    firstOf(fields, ({ name, check }) =>
      check((object as Readonly<Record<string, unknown>> | null | undefined)?.[name], `${path}.${name}`),
    );
}

const isOf = ({ pattern }: Form, value: unknown) => value == null || pattern.test(String(value));

function firstOf<T>(items: readonly T[], problemOf: (item: T, index: number) => string | null): string | null {
  for (const [index, item] of items.entries()) {
    const problem = problemOf(item, index);
    if (problem !== null) return problem;
  }
  return null;
}
