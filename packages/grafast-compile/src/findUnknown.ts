import type * as grafast from 'postgraphile/grafast';
import { sql } from 'postgraphile/pg-sql2';
import {
  classOf,
  type Fields,
  fieldsOfClass,
  fieldsOfLayer,
  fieldsOfOutput,
  fieldsOfPlan,
  fieldsOfStep,
  foundVersions,
  internalsOf,
  type Kind,
  kindOf,
  matchesConstraints,
  orNull,
  rowParserNames,
  type SelectStep,
  type Step,
  type StepClass,
  stepsOf,
  testedVersions,
  unusable,
} from './internals.ts';
import { layersOf, outputPlansOf } from './plans.ts';
import { planProbe } from './probe.ts';

/** Which library has another version than those that were tested. */
export function findOtherVersion(versions = foundVersions): string | null {
  for (const [library, tested] of Object.entries(testedVersions)) {
    const found = versions[library as keyof typeof testedVersions];
    if (found !== tested) return `${library} is ${found} and not ${tested}`;
  }
  return null;
}

/** Finds a field of a plan that is absent or of another type. Never throws. */
export function findOtherShape(plan: () => grafast.OperationPlan = planProbe): string | null {
  try {
    const { value: found } = shapesThatDiffer(plan()).next();
    return found ?? null;
  } catch (error) {
    return `a plan cannot be examined: ${error}`;
  }
}

function* shapesThatDiffer(grafastPlan: grafast.OperationPlan): Generator<string, undefined> {
  if (typeof matchesConstraints !== 'function') yield 'Grafast has no matchesConstraints';
  for (const [node, kind] of sqlNodes()) if (kindOf(node as never) !== kind) yield `pg-sql2 has no ${kind}`;

  const plan = internalsOf(grafastPlan);
  yield* fieldsThatDiffer('OperationPlan', plan, fieldsOfPlan);
  for (const layer of layersOf(plan.rootLayerPlan)) {
    yield* fieldsThatDiffer('LayerPlan', layer, fieldsOfLayer);
    yield* fieldsThatDiffer('LayerPlan.reason', layer.reason, { type: 'string' });
    if (!layer.phases.every(({ _allSteps }) => Array.isArray(_allSteps))) yield 'LayerPlan.phases have no _allSteps';
  }
  for (const output of outputPlansOf(plan.rootOutputPlan)) {
    yield* fieldsThatDiffer('OutputPlan', output, fieldsOfOutput);
    yield* fieldsThatDiffer('OutputPlan.type', output.type, { mode: 'string' });
    for (const key of Object.values(output.keys)) yield* fieldsThatDiffer('OutputPlan.keys', key, { type: 'string' });
  }
  yield* stepsThatDiffer(stepsOf(grafastPlan));
}

function* stepsThatDiffer(steps: readonly Step[]): Generator<string> {
  const classes = new Set(steps.map(classOf));
  for (const name of classesOfProbe) if (!classes.has(name)) yield `no step is a ${name}`;
  for (const step of steps) {
    yield* fieldsThatDiffer(classOf(step), step, { ...fieldsOfStep, ...fieldsOfClass[classOf(step) as StepClass] });
    for (const flags of step.dependencyForbiddenFlags)
      if ((flags & ~orNull) !== unusable) yield `${classOf(step)} has other flags: ${flags}`;
  }
  const { resource } = steps.find((step) => classOf(step) === 'PgSelectStep') as SelectStep;
  for (const name of ['executeWithCache', 'executeWithoutCache'] as const)
    if (typeof resource[name] !== 'function') yield `PgResource.${name} is no function`;
  const functions = steps.map((step) => (step as Partial<{ fn: { name: string } }>).fn?.name);
  for (const name of rowParserNames) if (!functions.includes(name)) yield `@dataplan/pg has no ${name}`;
}

function* fieldsThatDiffer(name: string, value: object, fields: Fields<Record<string, unknown>>): Generator<string> {
  for (const [field, kind] of Object.entries(fields)) {
    const found = (value as Record<string, unknown>)[field];
    if (!(field in value) && !kind.endsWith('??')) yield `${name}.${field} is absent`;
    else if (!isOf(kind, found)) yield `${name}.${field} is ${found === null ? 'null' : typeof found} and not ${kind}`;
  }
}

function isOf(kind: Kind, value: unknown): boolean {
  if (value == null) return kind.endsWith('?');
  const known = kind.replaceAll('?', '');
  if (known === 'any') return true;
  if (known === 'array') return Array.isArray(value);
  if (known === 'set') return value instanceof Set;
  if (known === 'map') return value instanceof Map;
  // A node of pg-sql2 may be a function.
  return typeof value === known || (known === 'object' && typeof value === 'function');
}

const classesOfOtherArguments: readonly string[] = [
  'BakedInputStep',
  '__InputDefaultStep',
  '__InputObjectStep',
  'ApplyInputStep',
  'PgFromExpressionStep',
];

/** The probe has steps of all classes but those that arguments of other kinds need. */
const classesOfProbe = (Object.keys(fieldsOfClass) as StepClass[]).filter(
  (name) => !classesOfOtherArguments.includes(name),
);

const sqlNodes = () =>
  [
    [sql`true`, 'RAW'],
    [sql.value(1), 'VALUE'],
    [sql.identifier(Symbol('alias')), 'IDENTIFIER'],
    [sql.placeholder(Symbol('placeholder')), 'PLACEHOLDER'],
    [sql`a ${sql.value(1)}`, 'QUERY'],
  ] as const;
