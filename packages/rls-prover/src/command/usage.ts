import { parseArgs } from 'node:util';
import { presets } from '../presets/index.ts';

/** A question that cannot be asked. Its message says what to do. */
export class UsageError extends Error {
  override name = 'UsageError';
}

export type Settings = {
  readonly url: string;
  readonly preset: string | null;
  readonly roles: readonly string[] | null;
  readonly schemas: readonly string[] | null;
  /** `name=setting:type`. */
  readonly claims: readonly { name: string; setting: string; type: string }[];
  readonly user: string | null;
  readonly assume: readonly string[];
  readonly accept: string | null;
  readonly invariants: string | null;
  readonly changed: string | null;
  readonly format: 'table' | 'json';
  readonly failOn: 'refuted' | 'unproven';
  readonly isReadOnly: boolean;
};

export const help = `Usage: rls-prover [options] <postgres://…>

Proves or refutes what clients of a database may see and change under its
row-level security. All happens in one transaction that is rolled back.
Connect as the owner of the tables or as a superuser, best to a copy of the
schema without its rows.

  --preset NAME        ${[...presets.keys()].join(', ')}; without it, the
                       database decides
  --roles A,B          the roles of clients
  --schemas A,B        the schemas that clients reach
  --claims NAME=SETTING:TYPE
                       a setting that says who the client is; may be repeated
  --user EXPRESSION    who the client is, such as "auth.uid()"
  --assume EXPRESSION  what is true of all clients' claims; may be repeated
  --invariants FILE    what must hold, written as policies, instead of the
                       preset's
  --accept FILE        judgements that are accepted, each with a reason
  --changed FILE       judges only what depends on what has changed since the
                       run that printed FILE with --format json
  --format FORMAT      table (default) or json
  --fail-on VERDICT    exit with 1 if a judgement is refuted (default), or
                       also if one is unproven
  --read-only          tries no rows, so that nothing is refuted
  --help               prints this

Exit codes: 0 nothing to fail on, 1 something, 64 wrong usage, 69 the
database cannot be reached, 70 an error of this program.
`;

/** Parses the arguments of the command. Null: the help is asked for. @throws {UsageError} */
export function parseSettings(args: readonly string[]): Settings | null {
  const { values, positionals } = parsed(args);
  if (values.help) return null;
  const [url, ...others] = positionals;
  if (!url || others.length > 0 || !/^postgres(ql)?:/.test(url))
    throw new UsageError('give one URL, postgres://user:password@host/database');
  const oneOf = <Value extends string>(name: string, value: Value, allowed: readonly string[]): Value => {
    if (!allowed.includes(value)) throw new UsageError(`--${name} is one of ${allowed.join(', ')}`);
    return value;
  };
  const list = (value: string | undefined) => value?.split(',').map((part) => part.trim()) ?? null;
  return {
    url,
    preset: values.preset ? oneOf('preset', values.preset, [...presets.keys()]) : null,
    roles: list(values.roles),
    schemas: list(values.schemas),
    claims: (values.claims ?? []).map(claimOf),
    user: values.user ?? null,
    assume: values.assume ?? [],
    accept: values.accept ?? null,
    invariants: values.invariants ?? null,
    changed: values.changed ?? null,
    format: oneOf('format', (values.format ?? 'table') as Settings['format'], ['table', 'json']),
    failOn: oneOf('fail-on', (values['fail-on'] ?? 'refuted') as Settings['failOn'], ['refuted', 'unproven']),
    isReadOnly: values['read-only'] ?? false,
  };
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const repeated = { type: 'string', multiple: true } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...{ preset: text, roles: text, schemas: text, user: text, accept: text, invariants: text, changed: text },
        ...{ claims: repeated, assume: repeated, format: text, 'fail-on': text },
        ...{ 'read-only': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function claimOf(text: string): Settings['claims'][number] {
  const [, name, setting, type = 'text'] = /^([a-z_]\w*)=([\w.]+)(?::([\w[\]]+))?$/.exec(text) ?? [];
  if (!name || !setting)
    throw new UsageError(`--claims ${text} is not NAME=SETTING:TYPE, such as user_id=app.user_id:uuid`);
  return { name, setting, type };
}
