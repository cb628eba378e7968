import {
  type Catalogue,
  isOwnOperator,
  isPinned,
  mayBeOwn,
  type Place,
  type Routine,
  type Trigger,
} from './catalogue.ts';
import type { Goal } from './interface.ts';
import { type Body, NotUnderstood, namesIn, type Parser, partsOf } from './parse.ts';

/** The side effects that a function may have. */
type Effects = {
  /** The first thing that is not understood, such as running text. */
  unknown: string | null;
  /** The function in which that is: this one, or one that it calls. */
  place: string;
  reads: boolean;
  writes: boolean;
  /** The columns of `new` that a trigger may write; null is any. */
  assigned: readonly string[] | null;
};

type OwnEffects = Effects & { called: readonly Routine[] };

/** They decide how a query is executed, or how values are written as text, and not what else a function does. */
export const harmlessSettings = new RegExp(
  `^(${[
    'search_path|plan_cache_mode|jit|work_mem|enable_\\w+|statement_timeout|lock_timeout',
    'random_page_cost|cpu_\\w+|from_collapse_limit|join_collapse_limit',
    'DateStyle|IntervalStyle|TimeZone|bytea_output|extra_float_digits|quote_all_identifiers',
  ].join('|')})=|^(standard_conforming_strings|row_security)=on$`,
);

const statements = /^(Select|Insert|Update|Delete|Merge|Call)Stmt$/;
const kinds =
  /^(block|assign|if|case|loop|while|fori|fors|forc|foreach_a|exit|return|return_next|return_query|raise|assert|execsql|perform|call|getdiag|open|fetch|close)$/;

/**
 * Finds the side effects of a function and of all functions that it calls, by an allowlist.
 *
 * A statement that reads or changes rows does so with the rights of the role that runs it, so it is allowed. Everything else is not understood:
 * other statements, text that is run, settings, other languages, PostgreSQL's functions that are not harmless, and names without a schema that
 * are not PostgreSQL's.
 */
export function effectsOf(routine: Routine, catalogue: Catalogue, parser: Parser): Effects {
  const known = memory.get(routine);
  if (known) return known;
  const own = (one: Routine) => ownEffectsOf(one, catalogue, parser);
  const all = reachedFrom(routine, own);
  // A definer that clients may call has a judgement of its own.
  const judged = reachedFrom(routine, own, ({ isDefiner, callers }) => isDefiner && callers.length > 0);
  const [found] = judged.map(own).filter(({ unknown }) => unknown !== null);
  const effects: Effects = {
    ...(found ?? own(routine)),
    reads: all.some((one) => own(one).reads || (one.isDefiner && one !== routine)),
    writes: all.some((one) => own(one).writes),
    assigned: own(routine).assigned,
  };
  memory.set(routine, effects);
  return effects;
}

/** A function and those that it calls, at any depth, in the order of the calls; but not by those that are left out. */
function reachedFrom(
  routine: Routine,
  own: (one: Routine) => OwnEffects,
  isLeftOut: (called: Routine) => boolean = () => false,
): Routine[] {
  const reached = new Set([routine]);
  const walk = (from: Routine): void => {
    for (const called of own(from).called) {
      if (reached.has(called) || isLeftOut(called)) continue;
      reached.add(called);
      walk(called);
    }
  };
  walk(routine);
  return [...reached];
}

/** The effects of a function's own text, and the database's functions that it names. */
function ownEffectsOf(routine: Routine, catalogue: Catalogue, parser: Parser): OwnEffects {
  const known = ownMemory.get(routine);
  if (known) return known;
  const place = routine.signature;
  const none = { place, assigned: null, called: [] };
  const find = (): OwnEffects => {
    if (routine.isTrusted) return { ...none, unknown: null, reads: false, writes: false };
    const [part] = routine.isOfRows ? unsafeParts(routine, catalogue) : [];
    if (part) return { ...none, unknown: `call of ${part} in ${routine.name}`, reads: true, writes: true };
    if (routine.isOfRows && routine.source === null)
      return { ...none, unknown: `the aggregate ${routine.name}`, reads: true, writes: true };
    const body = bodyOf(routine, parser);
    if (typeof body === 'string')
      return { ...none, unknown: `${body} in ${routine.name}`, reads: false, writes: false };
    const { keys } = namesIn(body.statements);
    const [problem] = problemsOf(routine, body, catalogue);
    return {
      place,
      unknown: problem ? `${problem} in ${routine.name}` : null,
      reads: keys.has('RangeVar'),
      writes: ['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt'].some((key) => keys.has(key)),
      assigned: body.assigned,
      called: calledBy(body.statements, catalogue, isPinned(routine)),
    };
  };
  const effects = found(find) ?? {
    ...none,
    unknown: `a body that is too large in ${routine.name}`,
    reads: true,
    writes: true,
  };
  ownMemory.set(routine, effects);
  return effects;
}

/** The result of a search of a parse tree, or null if the tree is too deep for it. */
function found<Result>(search: () => Result): Result | null {
  try {
    return search();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The database's functions that parse trees may call. A field may be a call, too: `u.name` is `name(u)` (parse_func.c, ParseFuncOrColumn). */
export function calledBy(trees: object, { functions }: Catalogue, isPinned: boolean): Routine[] {
  const { calls, fields } = namesIn(trees);
  return [...functions].flatMap(([name, overloads]) =>
    calls.has(name)
      ? overloads
      : overloads.filter(
          ({ parameters }) => !isPinned && parameters.length === 1 && fields.has(partsOf(name).at(-1) ?? ''),
        ),
  );
}

/** The parts of a function's own text that are not understood. */
function problemsOf(
  routine: Routine,
  { kinds: found, statements: all, variables }: Body,
  catalogue: Catalogue,
): string[] {
  const { calls, fields, operators, types, changed } = namesIn(all);
  const pinned = isPinned(routine);
  const casts = new Set([...catalogue.casts].flatMap((cast) => cast.split(' ')));
  // A type without its schema may be any of that name.
  const isWritten = (name: string) => types.has(name) || types.has(bareOf(name));
  return [
    ...routine.settings
      .filter((setting) => !harmlessSettings.test(setting))
      .map((setting) => `the setting ${setting.split('=')[0]}`),
    ...[...found]
      .filter((kind) => !kinds.test(kind))
      .map((kind) => (/^dyn/.test(kind) ? 'text that is run' : `the statement ${kind}`)),
    ...all.flatMap((statement) => Object.keys(statement).filter((tag) => !statements.test(tag))),
    ...[...calls, ...[...fields].filter((name) => catalogue.builtins.get(name)?.returns[1] !== undefined)]
      .filter((name) => !isKnown(name, catalogue, pinned))
      .map((name) => `call of ${name}`),
    ...[...operators].filter((name) => isOwnOperator(name, catalogue, pinned)).map((name) => `operator ${name}`),
    ...[...catalogue.checkedTypes]
      .filter(
        (name) =>
          isWritten(name) || routine.types.includes(name) || variables.some((type) => type.includes(bareOf(name))),
      )
      .map((name) => `the check of ${name}`),
    ...[...changed]
      .filter((path) => !isKnownTable(path, catalogue))
      .map((path) => `a change of ${path.replace(/^\./, '')}`),
    ...[...casts].filter(isWritten).map((name) => `a cast to ${name}`),
  ];
}

/** PostgreSQL's own functions that an aggregate calls, and that are not harmless. */
const unsafeParts = ({ body, source }: Routine, { builtins }: Catalogue): string[] =>
  source === null && body
    ? body.split(' ').filter((name) => !isHarmless(name, builtins.get(name)?.volatility ?? 'v'))
    : [];

const bareOf = (name: string) => name.slice(name.lastIndexOf('.') + 1);

/** PostgreSQL's own are not: an update of `pg_settings`, or of a view of it, sets a claim. */
const isKnownTable = (path: string, { paths }: Catalogue): boolean => {
  const relation = paths.get(path);
  return relation !== undefined && !(relation.definition !== null && /\bpg_settings\b/.test(relation.definition));
};

function isKnown(name: string, catalogue: Catalogue, isPinned: boolean): boolean {
  // A literal name, which has no case, that is no claim's, and of no setting of PostgreSQL's but a time limit.
  const [, given] = /^set_config\(((?!plpgsql)\w+\.\w+|\w+_timeout)\)$/.exec(name.toLowerCase()) ?? [];
  if (given && catalogue.settings.size > 0 && !mayBeOwn(catalogue.ownNames, 'set_config', isPinned))
    return !catalogue.settings.has(given);
  const plain = name.replace(/^pg_catalog\./, '');
  const builtin = isBuiltin(name, catalogue, isPinned) ? catalogue.builtins.get(plain) : undefined;
  return builtin ? isHarmless(plain, builtin.volatility) : catalogue.functions.has(name);
}

const isBuiltin = (name: string, { builtins, ownNames }: Catalogue, isPinned: boolean): boolean =>
  name.startsWith('pg_catalog.')
    ? builtins.has(name.slice('pg_catalog.'.length)) && !ownNames.has(name)
    : builtins.has(name) && !mayBeOwn(ownNames, name, isPinned);

const memory = new WeakMap<Routine, Effects>();
const ownMemory = new WeakMap<Routine, OwnEffects>();

function bodyOf({ language, body, source }: Routine, parser: Parser): Body | string {
  try {
    return parser.body(language, body, source);
  } catch (error) {
    return error instanceof NotUnderstood ? error.message : 'a body that is not parsed';
  }
}

/**
 * Whether one of PostgreSQL's own functions reads no table by a name, runs no text, sets nothing and writes nothing.
 * An immutable one does not, by its definition. The others are listed here.
 */
export const isHarmless = (name: string, volatility: 'i' | 's' | 'v'): boolean =>
  volatility === 'i' || harmless.has(name) || patterns.test(name);

const harmless = new Set(
  `age length pg_control_system pg_control_checkpoint array_to_json array_to_string clock_timestamp concat concat_ws convert_from convert_to current_database current_schema current_schemas
  current_setting currval date_part date_trunc extract format gen_random_uuid generate_series inet_client_addr json_agg json_build_array
  json_build_object json_object_agg jsonb_agg jsonb_build_array jsonb_build_object jsonb_object_agg jsonb_populate_record
  jsonb_populate_recordset jsonb_to_record jsonb_to_recordset lastval make_interval make_timestamptz nextval now num_nonnulls obj_description
  col_description pg_advisory_xact_lock pg_advisory_xact_lock_shared pg_backend_pid pg_column_size pg_current_snapshot pg_current_xact_id
  pg_current_xact_id_if_assigned pg_current_wal_insert_lsn pg_current_wal_lsn pg_last_wal_replay_lsn pg_is_in_recovery pg_notify
  pg_postmaster_start_time pg_relation_size pg_snapshot_xmin pg_trigger_depth pg_try_advisory_xact_lock pg_typeof pg_visible_in_snapshot
  quote_literal quote_nullable random row_to_json session_user statement_timestamp string_agg timeofday timezone to_char to_date to_json to_jsonb
  to_number to_timestamp transaction_timestamp txid_current uuidv4 uuidv7 format_type pg_size_pretty shobj_description version pg_encoding_to_char
  jsonb_path_query_tz pg_get_partkeydef pg_partition_root pg_partition_ancestors pg_partition_tree array_agg
  pg_stat_clear_snapshot pg_options_to_table aclexplode acldefault setseed`.split(/\s+/),
);
const patterns =
  /^(has_\w+_privilege|pg_has_role|to_reg\w+|pg_get_\w+|pg_\w+_is_visible|(date|timestamp|timestamptz|time|timetz|interval)_?\w*|oidvectortypes|reg\w+(in|out))$/;

/** A way to rows, policies or claims on which no policy decides. */
type Beside = Goal & { why: string; about: Pick<Goal, 'relation' | 'role'> };

/**
 * Checks the functions on which the proofs rest.
 *
 * - Claims and roles are constants of the transaction: no function that a client may call, or that a trigger calls, sets one or runs text.
 *   Nor does a rule, a default, a check, an index, a condition of a trigger, a policy or a view.
 * - A trigger with its owner's rights does what the reason for accepting it says.
 * - A trigger with the caller's rights does nothing that the caller could not do, unless a foreign key's action fires it.
 */
export function readBeside(catalogue: Catalogue, parser: Parser): Beside[] {
  const routines = [...catalogue.functions.values()].flat();
  const called = routines.filter(
    (one) =>
      !one.isTrigger &&
      one.callers.length > 0 &&
      (one.source !== null || one.language !== 'internal' || unsafeParts(one, catalogue).length > 0),
  );
  return [
    ...catalogue.places.flatMap((place) => {
      const problem = problemAt(place, catalogue, parser);
      const named = { relation: place.name, role: 'everybody' };
      const why = `not understood: ${problem}`;
      return problem === null ? [] : [{ ...named, invariant: 'claims', command: 'run', why, about: named }];
    }),
    ...called.flatMap((routine) => {
      const { unknown, place } = effectsOf(routine, catalogue, parser);
      // A function that its callers may call directly has a judgement of its own.
      const isJudged =
        place !== routine.signature &&
        called.some(
          ({ signature, callers }) =>
            signature === place && routine.callers.every((caller) => callers.includes(caller)),
        );
      if (unknown === null || isJudged || routine.isDefiner) return [];
      const named = { relation: routine.signature, role: routine.holder };
      return [
        {
          ...{ ...named, invariant: 'claims', command: 'call', about: named },
          why: `not understood: ${unknown}`,
        },
      ];
    }),
    ...routines
      .filter(
        ({ isDefiner, signature }) =>
          isDefiner && catalogue.triggers.some((trigger) => trigger.signature === signature),
      )
      .map(({ signature, holder }) => ({
        ...{ invariant: 'definer', relation: signature, command: 'trigger', role: 'everybody' },
        ...{ why: 'runs with the rights of its owner', about: { relation: signature, role: holder || 'nobody' } },
      })),
    ...catalogue.triggers.flatMap((trigger) => {
      const routine = routines.find(({ signature }) => signature === trigger.signature);
      return routine && !routine.isDefiner ? besideOf(trigger, routine, catalogue, parser) : [];
    }),
  ];
}

function besideOf(trigger: Trigger, routine: Routine, catalogue: Catalogue, parser: Parser): Beside[] {
  const { unknown } = effectsOf(routine, catalogue, parser);
  const place = trigger.relation === null ? trigger.name : `${trigger.name} on ${trigger.relation}`;
  const of = {
    command: 'trigger',
    relation: place,
    role: 'everybody',
    about: { relation: place, role: 'everybody' },
  };
  if (unknown !== null) return [{ ...of, invariant: 'claims', why: `not understood: ${unknown}` }];
  const relation = catalogue.relations.get(trigger.relation ?? '');
  const isOfAction = relation?.actions.some(
    ({ onDelete, onUpdate }) =>
      (onDelete === 'cascade' && trigger.events.includes('delete')) ||
      ((/null|default/.test(onDelete) || onUpdate !== 'none') && trigger.events.includes('update')),
  );
  return isOfAction
    ? [{ ...of, invariant: 'definer', why: 'runs with the rights of the owner when a foreign key changes its rows' }]
    : [];
}

/**
 * Why a place may do more than compute a value, or null.
 *
 * Sound by an allowlist of nodes, settings and functions. A function of the database's own runs with the rights of the client, who needs the
 * right to execute it: it has a judgement of its own. But the action of a foreign key writes rows with the rights of their owner.
 */
function problemAt(place: Place, catalogue: Catalogue, parser: Parser): string | null {
  if (place.unknown !== null) return place.unknown;
  const called = place.builtins.find(({ name, volatility }) => !isHarmless(name, volatility));
  if (called) return `call of ${called.name}`;
  const written = [...catalogue.relations.values()].filter(({ name }) => [name, '*'].includes(place.written ?? ''));
  if (written.every(({ actions }) => actions.length === 0)) return null;
  const asOwner = [...catalogue.functions.values()].flat().find((routine) => {
    if (!place.own.includes(routine.signature)) return false;
    const { unknown, reads, writes } = effectsOf(routine, catalogue, parser);
    return unknown !== null || reads || writes;
  });
  return asOwner ? `call of ${asOwner.name} with the rights of the owner when a foreign key changes its rows` : null;
}
