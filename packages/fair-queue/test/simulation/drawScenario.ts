import type { Limits } from '../../src/index.ts';
import { Random } from './random.ts';

/** The events of a run, drawn from its seed. */
export type Scenario = {
  readonly seed: number;
  readonly limits: Limits;
  readonly tenants: number;
  /** How many flows a tenant has; with one, the tenant is the flow. */
  readonly flowsOfTenant: number;
  /** How much of the work comes from the first tenant. */
  readonly shareOfFirst: number;
  /** After so many events other tenants have work, while those before rest; 0 if all have some all the time. */
  readonly phaseEvents: number;
  readonly meanCostMs: number;
  /** All pieces cost the same, so that the formula is tight. */
  readonly isUniform: boolean;
  /** How wrong an estimate may be, either way. */
  readonly error: number;
  readonly meanGapMs: number;
  readonly maxBurst: number;
  /** No more arrive while so many wait. */
  readonly maxBacklog: number;
  /** The cost of a piece is its own count and not the time for which it held its permit. */
  readonly isMetered: boolean;
  readonly canCancel: boolean;
  readonly canPause: boolean;
  readonly canMove: boolean;
  /** The thread computes now and then, so that timers fire late. */
  readonly canCompute: boolean;
};

export function drawScenario(seed: number): Scenario {
  const scenario = drawAny(seed);
  return seed % 5 === 0 ? withoutSlack(scenario) : scenario;
}

/** The same without what lets a piece wait longer, so that the formula is tight: wrong estimates, a burst, costs that differ. */
function withoutSlack(scenario: Scenario): Scenario {
  const { slots } = scenario.limits;
  return {
    ...scenario,
    limits: { slots },
    tenants: 3 + (scenario.seed % 7),
    shareOfFirst: 0.3,
    isUniform: true,
    phaseEvents: 200,
    error: 1,
    meanGapMs: scenario.meanCostMs / slots / 1.2,
    maxBurst: 1 + (scenario.seed % 2),
    maxBacklog: 60,
    ...{ isMetered: false, canCancel: false, canPause: false, canMove: false, canCompute: false },
  };
}

function drawAny(seed: number): Scenario {
  const random = new Random(seed);
  const isLarge = random.chance(0.01);
  const tenants = isLarge ? 1000 : random.pick([1, 2, 3, 4, 6, 10, 20]);
  const slots = random.pick([1, 1, 2, 3, 5, 8, 24]);
  const isPlain = random.chance(0.5);
  const meanCostMs = random.pick([1, 8, 40]);
  const load = random.pick([0.5, 0.9, 1.2, 3]);
  const maxBurst = random.pick([1, 4, 16]);
  return {
    seed,
    limits: drawLimits(random, slots, isLarge),
    tenants,
    flowsOfTenant: random.pick([1, 1, 2, 5]),
    shareOfFirst: random.pick([0, 0.5, 0.9]),
    phaseEvents: random.pick([0, 40, 200, 500]),
    meanCostMs,
    isUniform: random.chance(0.4),
    error: random.pick([1, 1, 2, 10]),
    meanGapMs: (((maxBurst + 1) / 2) * meanCostMs) / (slots * load),
    maxBurst: isLarge ? 400 : maxBurst,
    maxBacklog: isLarge ? 1500 : random.pick([20, 60]),
    isMetered: !isPlain && random.chance(0.3),
    canCancel: random.chance(0.5),
    canPause: !isPlain,
    canMove: !isPlain && random.chance(0.5),
    canCompute: random.chance(0.3),
  };
}

function drawLimits(random: Random, slots: number, isLarge: boolean): Limits {
  const optional = <K extends keyof Limits>(name: K, probability: number, values: readonly number[]) =>
    random.chance(probability) ? { [name]: random.pick(values) } : {};
  return {
    slots,
    ...optional('reserve', 0.5, [1, 2, 4]),
    ...optional('slotsPerTenant', 0.3, [1, 2, 3]),
    ...optional('burstMs', 0.4, [1, 20, 200]),
    ...optional('maxWaiting', 0.6, isLarge ? [700, 1200] : [1, 2, 5, 12, 30]),
    ...optional('maxWaitingPerTenant', 0.2, [1, 3, 10]),
    ...optional('maxWaitingBytes', 0.4, [100, 1000]),
    ...optional('waitMs', 0.4, [20, 100, 1000]),
    ...optional('maxIdleFlows', 0.3, [0, 1, 3, 8]),
  };
}
