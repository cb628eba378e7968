import type { Clock, FairQueue, Limits, Outcome, Permit } from '../../src/index.ts';
import { drawScenario, type Scenario } from './drawScenario.ts';
import { Judge, must } from './Judge.ts';
import type { Fact } from './Model.ts';
import { Random } from './random.ts';
import { VirtualClock } from './VirtualClock.ts';

export type Create = (limits: Limits, clock: Clock) => FairQueue;

export type Report = { readonly events: number; readonly waits: number; readonly longestShare: number };

/**
 * Runs a scheduler with the scenario of a seed for so many events, until all work has ended.
 *
 * @param checksOrder whether the judge's model says which piece is next; if not, the formula and the counts must show a fault
 * @throws what the judge finds
 */
export function simulate(create: Create, seed: number, events: number, checksOrder = true): Report {
  return new Simulation(create, drawScenario(seed), events, checksOrder).run();
}

class Simulation {
  readonly #scenario: Scenario;
  readonly #random: Random;
  readonly #clock = new VirtualClock();
  readonly #queue: FairQueue;
  readonly #judge: Judge;
  readonly #maxEvents: number;
  #events = 0;
  #created = 0;

  constructor(create: Create, scenario: Scenario, maxEvents: number, checksOrder: boolean) {
    const { limits, isMetered, canPause, canMove, canCompute, seed } = scenario;
    this.#scenario = scenario;
    this.#random = new Random(seed ^ 0x5bd1e995);
    this.#maxEvents = maxEvents;
    this.#queue = create(limits, this.#clock);
    const checksWaits = !isMetered && !canPause && !canMove && !canCompute && limits.maxIdleFlows === undefined;
    this.#judge = new Judge(limits, { checksOrder, checksWaits }, () => this.#clock.now());
    if (isMetered) this.#judge.model.usedMs = (fact) => (this.#clock.now() - fact.heldSince) / 4;
  }

  run(): Report {
    this.#scheduleArrivals();
    while (this.#clock.step());
    const { waiting, waitingBytes, held } = this.#queue;
    must(waiting + waitingBytes + held === 0, `${waiting} wait and ${held} permits are held at the end`);
    must(this.#judge.endings.size === this.#created, `${this.#created - this.#judge.endings.size} were lost`);
    const { checkedWaits, longestShare } = this.#judge;
    return { events: this.#events, waits: checkedWaits, longestShare };
  }

  #scheduleArrivals(): void {
    if (this.#events >= this.#maxEvents) return;
    this.#clock.setTimeout(
      () => {
        const { maxBurst, maxBacklog } = this.#scenario;
        const count = 1 + this.#random.below(maxBurst);
        for (let one = 0; one < count; one++) if (this.#queue.waiting < maxBacklog) this.#submit();
        // Without work the time would pass without events.
        this.#events++;
        this.#scheduleArrivals();
      },
      eighths(this.#random.exponential(this.#scenario.meanGapMs)),
    );
  }

  #submit(): void {
    const { canCancel, canMove } = this.#scenario;
    const path = this.#drawPath();
    const facts = this.#drawFacts();
    const fact = this.#judge.create(this.#created++, path, facts);
    const leaving = canCancel && this.#random.chance(0.1) ? new AbortController() : null;
    const { costMs, bytes, waitMs } = facts;
    this.#events++;
    this.#judge.arrives(fact);
    const permit = this.#queue.submit(
      {
        ...{ path, costMs, bytes },
        ...(waitMs !== undefined && { waitMs }),
        ...(leaving && { signal: leaving.signal }),
        ...(this.#scenario.isMetered && { usedMs: () => this.#clock.now() / 4 }),
      },
      this.#outcomeOf(fact, fact.actualMs),
    );
    this.#settle(fact.state !== 'ended');
    if (canMove && this.#random.chance(0.1)) this.#move(permit, fact);
    if (fact.state !== 'waiting') return;
    if (leaving) this.#later(fact, () => this.#abort(leaving, fact));
    else if (canCancel && this.#random.chance(0.1)) this.#later(fact, () => this.#cancel(permit, fact));
  }

  /** Something that happens to a piece if it still waits by then. */
  #later(fact: Fact, act: () => void): void {
    this.#clock.setTimeout(
      () => {
        if (fact.state !== 'waiting') return;
        this.#events++;
        act();
        this.#settle(false);
      },
      eighths(this.#random.exponential(this.#scenario.meanCostMs)),
    );
  }

  #move(permit: Permit, fact: Fact): void {
    this.#clock.setTimeout(
      () => {
        if (fact.state === 'ended') return;
        this.#events++;
        const path = this.#drawPath();
        this.#judge.moves(fact, path);
        permit.move(path);
        this.#settle(true);
      },
      eighths(this.#random.exponential(this.#scenario.meanCostMs)),
    );
  }

  #abort(leaving: AbortController, fact: Fact): void {
    leaving.abort();
    must(fact.state === 'ended', `${fact.id} still waits, though its signal was aborted`);
  }

  #cancel(permit: Permit, fact: Fact): void {
    this.#judge.leaves(fact);
    this.#judge.ends(fact, 'cancelled');
    permit.release();
  }

  #outcomeOf(fact: Fact, restMs: number, paused?: Permit): Outcome {
    return {
      begin: (permit, waitedMs) => {
        this.#judge.begins(fact, waitedMs);
        this.#serve(permit, fact, restMs);
      },
      refuse: ({ reason }) => {
        if (reason === 'cancelled') return must(fact.state === 'ended', `${fact.id} was not cancelled`);
        this.#events++;
        this.#judge.refused(fact, reason);
        // A piece that was queued again keeps its permit for a pause, until it is released.
        if (!paused) return;
        this.#judge.ends(fact, 'refused');
        paused.release();
      },
    };
  }

  /** Lets a piece work for so long, with a pause now and then. */
  #serve(permit: Permit, fact: Fact, restMs: number): void {
    const pauses = this.#scenario.canPause && restMs > 0.25 && this.#random.chance(0.3);
    const workMs = pauses ? eighths(restMs * this.#random.next()) : restMs;
    this.#clock.setTimeout(() => {
      this.#events++;
      if (this.#scenario.canCompute && this.#random.chance(0.1))
        this.#clock.compute(eighths(this.#random.exponential(20)));
      if (pauses) {
        this.#judge.pauses(fact);
        permit.pause();
        this.#settle(true);
        this.#goOn(permit, fact, restMs - workMs);
      } else {
        this.#judge.givesBack(fact);
        this.#judge.ends(fact, 'served');
        permit.release();
        permit.release();
        this.#settle(true);
      }
    }, workMs);
  }

  #goOn(permit: Permit, fact: Fact, restMs: number): void {
    this.#clock.setTimeout(
      () => {
        this.#events++;
        if (this.#random.chance(0.3)) {
          this.#judge.resumes(fact);
          permit.resume();
          this.#settle(false);
          this.#serve(permit, fact, restMs);
        } else {
          this.#judge.arrives(fact);
          permit.requeue(this.#outcomeOf(fact, restMs, permit));
          this.#settle(fact.state !== 'ended');
        }
      },
      eighths(this.#random.exponential(this.#scenario.meanCostMs)),
    );
  }

  #settle(isDecision: boolean): void {
    this.#judge.settled(isDecision, this.#queue);
  }

  #drawPath(): string[] {
    const { tenants, flowsOfTenant, shareOfFirst, phaseEvents } = this.#scenario;
    const phase = phaseEvents > 0 ? Math.floor(this.#events / phaseEvents) : 0;
    const active = phaseEvents > 0 ? Math.ceil(tenants / 3) : tenants;
    const tenant = this.#random.chance(shareOfFirst) ? 0 : (phase * active + this.#random.below(active)) % tenants;
    const path = [`tenant ${tenant}`];
    // Every other tenant has flows of its own.
    if (flowsOfTenant > 1 && tenant % 2 === 0) path.push(`flow ${this.#random.below(flowsOfTenant)}`);
    return path;
  }

  #drawFacts() {
    const { meanCostMs, isUniform, error, limits } = this.#scenario;
    const actualMs = isUniform ? meanCostMs : eighths(this.#random.exponential(meanCostMs)) + 1 / 8;
    const factor = error ** (2 * this.#random.next() - 1);
    const costMs = Math.max(1 / 8, eighths(actualMs * factor));
    const bytes = limits.maxWaitingBytes === undefined ? 0 : this.#random.below(limits.maxWaitingBytes / 4);
    const waitMs = this.#random.chance(0.05) ? eighths(this.#random.exponential(meanCostMs * 4)) : undefined;
    return { actualMs: this.#scenario.isMetered ? actualMs / 4 : actualMs, costMs, bytes, waitMs };
  }
}

const eighths = (ms: number) => Math.round(ms * 8) / 8;
