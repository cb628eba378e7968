import type { OperationPlan as GrafastOperationPlan } from 'postgraphile/grafast';
import { findOtherShape, findOtherVersion } from '../src/findUnknown.ts';
import { internalsOf, type OperationPlan, type Step, stepsOf, testedVersions } from '../src/internals.ts';
import { planProbe } from '../src/probe.ts';

test('the libraries that are installed are known', () => {
  expect(findOtherVersion()).toBeNull();
  expect(findOtherShape()).toBeNull();
});

test.each(Object.keys(testedVersions))('another version of %s is unknown, and so is none', (library) => {
  expect(findOtherVersion({ ...testedVersions, [library]: '9.9.9' })).toBe(
    `${library} is 9.9.9 and not ${testedVersions[library as keyof typeof testedVersions]}`,
  );
  expect(findOtherVersion({ ...testedVersions, [library]: undefined })).toMatch(`${library} is undefined`);
});

/** A plan in which one thing is not as it was. */
const damagedPlan = (damage: (plan: OperationPlan, steps: readonly Step[]) => void) => (): GrafastOperationPlan => {
  const plan = planProbe();
  damage(internalsOf(plan), stepsOf(plan));
  return plan;
};

const set = (target: object | undefined, field: string, value: unknown) =>
  Object.defineProperty(target, field, { value, configurable: true });

const remove = (target: object | undefined, field: string) => Reflect.deleteProperty(target ?? {}, field);

const firstOf = (steps: readonly Step[], name: string) => steps.find((step) => step.constructor.name === name);

test.each<[string, (plan: OperationPlan, steps: readonly Step[]) => void]>([
  ['OperationPlan.contextConstraints', (plan) => set(plan, 'contextConstraints', undefined)],
  ['LayerPlan.phases', (plan) => set(plan.rootLayerPlan, 'phases', null)],
  ['_allSteps', (plan) => set(plan.rootLayerPlan.phases[0], '_allSteps', new Set())],
  ['OutputPlan.executeString', (plan) => set(plan.rootOutputPlan, 'executeString', 'no function')],
  ['ListStep.isSyncAndSafe', (_, steps) => set(firstOf(steps, 'ListStep'), 'isSyncAndSafe', 1)],
  [
    'PgSelectSingleStep.polymorphicPaths',
    (_, steps) => set(firstOf(steps, 'PgSelectSingleStep'), 'polymorphicPaths', []),
  ],
  ['PgSelectStep.placeholders', (_, steps) => set(firstOf(steps, 'PgSelectStep'), 'placeholders', undefined)],
  ['PgSelectStep._symbolSubstitutes', (_, steps) => set(firstOf(steps, 'PgSelectStep'), '_symbolSubstitutes', {})],
  [
    'PgSelectInlineApplyStep.staticInfo',
    (_, steps) => set(firstOf(steps, 'PgSelectInlineApplyStep'), 'staticInfo', null),
  ],
  [
    'ConnectionStep.neededCollection',
    (_, steps) => set(firstOf(steps, 'ConnectionStep'), 'neededCollection', undefined),
  ],
  [
    'PgSelectSingleStep.nullCheckAttributeIndex is absent',
    (_, steps) => remove(firstOf(steps, 'PgSelectSingleStep'), 'nullCheckAttributeIndex'),
  ],
  ['PgSelectStep.afterStepId is absent', (_, steps) => remove(firstOf(steps, 'PgSelectStep'), 'afterStepId')],
  ['other flags: 4', (_, steps) => set(firstOf(steps, 'ObjectStep'), 'dependencyForbiddenFlags', [4])],
  [
    'PgResource.executeWithCache',
    (_, steps) =>
      set((firstOf(steps, 'PgSelectStep') as Step & { resource: object }).resource, 'executeWithCache', null),
  ],
  [
    'pgInlineViaSubqueryTransform',
    (_, steps) => {
      for (const step of steps) if ('fn' in step) set(step, 'fn', function renamed() {});
    },
  ],
  ['PageInfoStep', (_, steps) => set(firstOf(steps, 'PageInfoStep'), 'constructor', class RenamedStep {})],
  ['cannot be examined', (plan) => set(plan, 'rootLayerPlan', {})],
])('a plan with another %s is unknown, which is said and not thrown', (what, damage) => {
  const reason = findOtherShape(damagedPlan(damage));

  expect(reason).toContain(what);
});

test('where no plan can be made, that is said and not thrown', () => {
  const reason = findOtherShape(() => {
    throw new TypeError('makeGrafastSchema is not a function');
  });

  expect(reason).toBe('a plan cannot be examined: TypeError: makeGrafastSchema is not a function');
});
