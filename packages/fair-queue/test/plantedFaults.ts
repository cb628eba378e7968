/** A text of a source file that is replaced by another one, after which a rule does not hold. */
export type PlantedFault = {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** Whether a piece waits for longer than the formula of the README allows. */
  readonly breaksFormula?: true;
};

export const plantedFaults: readonly PlantedFault[] = [
  {
    name: 'virtual time does not advance',
    breaksFormula: true,
    file: 'Flow.ts',
    from: 'flow.#virtual = Math.max(flow.#virtual, flow.#least);',
    to: 'flow.#least = 0;',
  },
  {
    name: 'virtual time advances to the flow that is served, though others are behind',
    file: 'Flow.ts',
    from: 'this.#least = least;',
    to: 'this.#least = leastStarting;',
  },
  {
    name: 'virtual time stays when nothing waits and nothing is served',
    file: 'Flow.ts',
    from: 'if (this.waiting + this.held === 0) this.#virtual',
    to: 'if (this.waiting + this.held < 0) this.#virtual',
  },
  {
    name: 'an estimate that was too high is not corrected',
    file: 'Ticket.ts',
    from: 'this.flow.charge(this.#usedMs(now) - this.#chargedMs);',
    to: 'this.flow.charge(Math.max(0, this.#usedMs(now) - this.#chargedMs));',
  },
  {
    name: 'an estimate that was too low is not corrected',
    file: 'Ticket.ts',
    from: 'this.flow.charge(this.#usedMs(now) - this.#chargedMs);',
    to: 'this.flow.charge(Math.min(0, this.#usedMs(now) - this.#chargedMs));',
  },
  {
    name: 'use beyond the estimate is charged only at the end',
    file: 'Ticket.ts',
    from: 'if (usedMs <= this.#chargedMs) return;',
    to: 'return;',
  },
  {
    name: 'an estimate is not charged',
    breaksFormula: true,
    file: 'Ticket.ts',
    from: 'this.#chargedMs = this.piece.costMs;\n    this.flow.hold(this.piece.costMs);',
    to: 'this.#chargedMs = 0;\n    this.flow.hold(0);',
  },
  {
    name: 'a rest makes a flow forget its debt',
    breaksFormula: true,
    file: 'Flow.ts',
    from: '    this.return();\n    this.#place',
    to: '    this.return();\n    this.#finish = 0;\n    this.#place',
  },
  {
    name: 'a rest is an advantage',
    breaksFormula: true,
    file: 'Flow.ts',
    from: 'return Math.max(this.#finish, this.#returned);',
    to: 'return this.#finish;',
  },
  {
    name: 'a flow that may hold no more earns an advantage meanwhile',
    file: 'Scheduler.ts',
    from: 'if (!wasBelowCap && this.#isBelowCap(tenant)) tenant.return();',
    to: '',
  },
  {
    name: 'only the leaf is charged and not its tenant',
    file: 'Flow.ts',
    from: 'flow.#finish += differenceMs;',
    to: 'if (flow === this) flow.#finish += differenceMs;',
  },
  {
    name: 'flows of one tenant are served in the order of arrival',
    breaksFormula: true,
    file: 'Flow.ts',
    from: 'return next?.next(burstMs) ?? null;',
    to: 'return next?.next(Number.POSITIVE_INFINITY) ?? null;',
  },
  {
    name: 'each flow of a tenant has a share of its own',
    file: 'FlowTree.ts',
    from: 'let flow = this.root;\n    for (const [depth, key] of path.entries()) {\n      const isLeaf = depth === path.length - 1;',
    to: 'let flow = this.root;\n    path = [path.join(" ")];\n    for (const [depth, key] of path.entries()) {\n      const isLeaf = depth === path.length - 1;',
  },
  {
    name: 'the flow with the most service is next',
    file: 'Flow.ts',
    from: 'if (start < leastStarting && mayStart(flow)) leastStarting = start;',
    to: 'if (mayStart(flow)) leastStarting = start;',
  },
  {
    name: 'of flows within the burst the newest piece is next',
    file: 'Flow.ts',
    from: 'if (itsOrder < order) [next',
    to: 'if (!next || itsOrder > order) [next',
  },
  {
    name: 'the burst is unlimited',
    breaksFormula: true,
    file: 'Flow.ts',
    from: 'flow.start > leastStarting + burstMs || ',
    to: '',
  },
  {
    name: 'within a flow the newest piece is next',
    file: 'Scheduler.ts',
    from: 'this.#isBelowCap, this.#mayStart)?.oldest;',
    to: 'this.#isBelowCap, this.#mayStart)?.newest;',
  },
  {
    name: 'the reserve is unlimited',
    file: 'Scheduler.ts',
    from: '(tenant.held === 0 && this.#reserved < this.#limits.reserve)',
    to: '(tenant.held === 0 && this.#limits.reserve > 0)',
  },
  {
    name: 'the reserve is for every tenant',
    file: 'Scheduler.ts',
    from: '(tenant.held === 0 && this.#reserved < this.#limits.reserve)',
    to: 'this.#reserved < this.#limits.reserve',
  },
  {
    name: 'a permit of the reserve stays used',
    file: 'Scheduler.ts',
    from: 'if (ticket.isReserved) this.#reserved--;',
    to: '',
  },
  {
    name: 'a tenant may hold all permits',
    file: 'Scheduler.ts',
    from: 'held < this.#limits.slotsPerTenant;',
    to: 'held < this.#limits.slots;',
  },
  {
    name: 'a piece that is cancelled while it waits loses a slot',
    file: 'Scheduler.ts',
    from: "if (state === 'waiting') this.#leave(ticket);\n    if (state === 'held') this.#giveBack(ticket);\n    this.#end(ticket);",
    to: "if (state === 'waiting') this.#take(ticket, false);\n    if (state === 'waiting') this.#leave(ticket);\n    if (state === 'held') this.#giveBack(ticket);\n    this.#end(ticket);",
  },
  {
    name: 'a piece that is cancelled stays in the queue',
    file: 'Scheduler.ts',
    from: "if (state === 'waiting') this.#leave(ticket);\n    if (state === 'held') this.#giveBack(ticket);\n    this.#end(ticket);",
    to: "if (state === 'held') this.#giveBack(ticket);\n    this.#end(ticket);",
  },
  {
    name: 'a permit that is given back begins nothing',
    file: 'Scheduler.ts',
    from: "if (state === 'held') this.#dispatch();",
    to: '',
  },
  {
    name: 'a pause begins nothing',
    file: 'Scheduler.ts',
    from: "    ticket.state = 'paused';\n    this.#dispatch();",
    to: "    ticket.state = 'paused';",
  },
  {
    name: 'a permit that is released twice is given back twice',
    file: 'Scheduler.ts',
    from: "if (state === 'ended') return;\n    if (state === 'waiting') this.#leave(ticket);\n    if (state === 'held') this.#giveBack(ticket);\n    this.#end",
    to: "if (state === 'ended') this.#giveBack(ticket);\n    if (state === 'waiting') this.#leave(ticket);\n    if (state === 'held') this.#giveBack(ticket);\n    this.#end",
  },
  {
    name: 'the bound of pieces is ignored',
    file: 'shares.ts',
    from: "measure: 'waiting', added: 1, max: maxWaiting },",
    to: "measure: 'waiting', added: 0, max: maxWaiting },",
  },
  {
    name: 'the bound of bytes is ignored',
    file: 'shares.ts',
    from: 'added: bytes, max',
    to: 'added: 0, max',
  },
  {
    name: 'the bound of a tenant is ignored',
    file: 'shares.ts',
    from: 'added: 1, max: maxWaitingPerTenant',
    to: 'added: 0, max: maxWaitingPerTenant',
  },
  {
    name: 'a flow has no share of a bound that others have used up',
    file: 'shares.ts',
    from: 'if ((below?.[measure] ?? 0) + added <= share) return parent ?? null;',
    to: '',
  },
  {
    name: 'all flows below one tenant have the share of a tenant',
    file: 'shares.ts',
    from: 'share /= below',
    to: 'if (parent === flow) share /= below',
  },
  {
    name: 'the oldest piece must make room',
    file: 'shares.ts',
    from: 'if (!flow || flow.newest) return flow?.newest ?? null;',
    to: 'if (!flow || flow.newest) return flow?.oldest ?? null;',
  },
  {
    name: 'the flow that has least must make room',
    file: 'shares.ts',
    from: 'below[measure] > largest[measure]',
    to: 'below[measure] < largest[measure]',
  },
  {
    name: 'a deadline is ignored',
    file: 'Scheduler.ts',
    from: 'ticket.deadline = ticket.since + (ticket.piece.waitMs ?? this.#limits.waitMs);',
    to: '',
  },
  {
    name: 'a deadline that passes while the thread computes is ignored',
    file: 'Scheduler.ts',
    from: 'if (!ticket || now <= ticket.deadline) return',
    to: 'if (!ticket || now <= now) return',
  },
  {
    name: 'the deadline of a piece is that of all',
    file: 'Scheduler.ts',
    from: '(ticket.piece.waitMs ?? this.#limits.waitMs)',
    to: 'this.#limits.waitMs',
  },
  {
    name: 'a signal is ignored',
    file: 'Scheduler.ts',
    from: "piece.signal?.addEventListener('abort', abort);",
    to: '',
  },
  {
    name: 'a piece that moves is charged to its former flow',
    file: 'Scheduler.ts',
    from: 'ticket.flow = next;',
    to: 'this.#flows.release(next);\n    this.#flows.use(path);',
  },
  {
    name: 'idle flows are not kept',
    file: 'FlowTree.ts',
    from: 'this.#idle > this.#maxIdle &&',
    to: 'this.#idle > 0 &&',
  },
  {
    name: 'the idle flow that was used last is dropped',
    file: 'FlowTree.ts',
    from: 'this.#leastRecent) this.#drop(this.#leastRecent);',
    to: 'this.#mostRecent) this.#drop(this.#mostRecent);',
  },
];
