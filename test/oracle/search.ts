import { type GraphQLSchema, parse } from 'graphql';
import type { TestDatabase } from '../support/database.ts';
import { ask, type Outcome, type Question, type Setting } from './ask.ts';
import { Coverage } from './coverage.ts';
import { drawDocument } from './documents/drawDocument.ts';
import { type Known, knownOf } from './documents/known.ts';
import { isFit, isValid } from './fit.ts';
import { randomOf } from './random.ts';
import { kindOf } from './report.ts';
import { type Rows, readRows } from './rows.ts';
import { executableSchema } from './schema.ts';
import type { Service } from './service.ts';
import { shrink } from './shrink.ts';
import { type Signed, signIn } from './world/callers.ts';
import { drawWorld, type World } from './world/drawWorld.ts';
import { learnCursors } from './world/learn.ts';
import { type Provisioned, provision } from './world/provision.ts';
import { shrinkRows } from './world/shrinkRows.ts';
import { deleteRows, insertRows, rowsOf } from './world/store.ts';

/** An answer that is not what it must be, by its smallest document. */
export type Finding = {
  readonly question: Question;
  readonly outcome: Outcome;
  readonly setting: Setting;
  readonly number: number;
};

export type Search = {
  readonly seed: number;
  readonly documents: number;
  /** How many are asked in one world. */
  readonly perWorld: number;
  /** Whether it goes on after a finding. */
  readonly keepsGoing: boolean;
  /** Whether a finding is left as it was drawn. */
  readonly leavesWhole?: boolean;
};

type Prepared = {
  readonly worlds: readonly World[];
  readonly rows: Rows;
  readonly provisioned: Provisioned;
  /** Those that {@link openWorld} was called for. */
  readonly opened: Map<World, Opened>;
};

type Opened = { readonly rows: Rows; readonly cursors: Setting['cursors'] };

/** All worlds of a search, with their rows as the owner reads them. */
export async function prepare(database: TestDatabase, { seed, documents, perWorld }: Search): Promise<Prepared> {
  const worlds = Array.from({ length: Math.ceil(documents / perWorld) }, (_, index) => drawWorld(seed, index));
  for (const world of worlds) await insertRows(database.owner, world.rows);
  const provisioned = await provision(database.ownerUrl, worlds);
  await database.owner.query('analyze');
  const rows = await readRows(database.owner);
  for (const user of rows.users) {
    user.externalAuthenticationToken = provisioned.tokens.get(`${user.organizationId} ${user.id}`) ?? null;
  }
  return { worlds, rows, provisioned, opened: new Map() };
}

/** Learns the cursors of a world, also those of rows that are deleted then. Once, since the rows do not come back. */
export async function openWorld(
  { owner }: TestDatabase,
  service: Service,
  schema: GraphQLSchema,
  { rows, provisioned, opened }: Prepared,
  world: World,
): Promise<Opened> {
  const known = opened.get(world);
  if (known) return known;
  const signed = await signIn(service, world, provisioned);
  const before = rowsOf(rows, { ...world, deleted: new Set() });
  const learn = (organizationId: string) => {
    const reader = signed.find(({ caller }) => caller.kind === 'app' && caller.organizationId === organizationId);
    if (!reader) throw new Error('An organization has an app token.');
    return learnCursors(service, schema, { rows: before, ...reader });
  };
  const [first, second] = world.organizations;
  const made = { cursors: [await learn(first), await learn(second)] as const, rows: rowsOf(rows, world) };
  await deleteRows(owner, world);
  opened.set(world, made);
  return made;
}

/** Draws documents and compares their answers with the oracle's. */
export class OracleSearch {
  readonly #search: Search;
  readonly #database: TestDatabase;
  readonly #services: { readonly compiling: Service; readonly uncompiled: Service };
  readonly #prepared: Prepared;
  readonly schema: ReturnType<typeof executableSchema>;
  readonly coverage: Coverage;
  readonly findings: Finding[] = [];
  /** Documents that were wrong. */
  wrong = 0;

  constructor(
    search: Search,
    sdl: string,
    database: TestDatabase,
    services: { compiling: Service; uncompiled: Service },
    prepared: Prepared,
  ) {
    this.#search = search;
    this.#database = database;
    this.#services = services;
    this.#prepared = prepared;
    this.schema = executableSchema(sdl);
    this.coverage = new Coverage(this.schema);
  }

  /** At most so long once there are a few, which a small search on a busy machine does. */
  async run(maxMs = Number.POSITIVE_INFINITY): Promise<void> {
    const start = performance.now();
    const isOver = () => this.coverage.documents >= fewest && performance.now() - start > maxMs;
    for (const index of this.#prepared.worlds.keys()) {
      if (isOver() || this.#isDone()) return;
      await this.#runWorld(index, isOver);
      const { documents } = this.coverage;
      if (maxMs === Number.POSITIVE_INFINITY) process.stdout.write(`${documents} documents, ${this.wrong} wrong\n`);
    }
  }

  #isDone(): boolean {
    return this.findings.length > 0 && !this.#search.keepsGoing;
  }

  async #runWorld(index: number, isOver: () => boolean): Promise<void> {
    const { perWorld, documents } = this.#search;
    const world = this.#prepared.worlds[index] as World;
    const { compiling } = this.#services;
    const { rows, cursors } = await openWorld(this.#database, compiling, this.schema, this.#prepared, world);
    const [first, second] = cursors;
    const own = { schema: this.schema, rows, cursors: [first.copy(), second.copy()] } as const;
    const setting: Setting = { ...own, ...this.#services };
    const signed = await signIn(compiling, world, this.#prepared.provisioned);
    const known = new Map(signed.map((one) => [one.name, knownOf(setting.rows, setting.cursors, one.caller)] as const));
    let next = index * perWorld;
    const end = Math.min(next + perWorld, documents);
    const lane = async () => {
      while (next < end && !isOver() && !this.#isDone()) {
        const number = next;
        next += 1;
        const question = this.#draw(setting, signed, known, number);
        const outcome = await ask(setting, question);
        this.coverage.count(question.document, outcome.expected);
        if (outcome.wrong) await this.#find(setting, question, number, outcome);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }

  /** Draws again where selections that meet differ, but for few. */
  #draw(setting: Setting, signed: readonly Signed[], known: ReadonlyMap<string, Known>, number: number): Question {
    const { seed } = this.#search;
    const random = randomOf(seed, 'question', number);
    const caller = random.chance(0.45) ? (signed[0] as Signed) : random.pick(signed);
    for (let nth = 0; ; nth += 1) {
      const { text, variables } = drawDocument(this.schema, known.get(caller.name) as Known, caller.caller.kind, [
        seed,
        number,
        nth,
      ]);
      const question = { document: parse(text), variables, signed: caller };
      if (isFit(setting, question) && (isValid(setting, question) || random.chance(0.02))) return question;
    }
  }

  async #find(setting: Setting, question: Question, number: number, outcome: Outcome): Promise<void> {
    this.wrong += 1;
    if (this.wrong > maxShrunk) return;
    if (this.#search.leavesWhole) return void this.findings.push({ question, outcome, setting, number });
    const isWrong = (smaller: Question) => isWrongAlike(setting, smaller, outcome);
    const smallest = await shrink(question, this.schema, isWrong, maxTries);
    const again = await ask(setting, smallest);
    // What does not happen again is told as it was.
    const [found, how] = again.wrong ? [smallest, again] : [question, outcome];
    this.findings.push({ question: found, outcome: how, setting, number });
  }

  /** Deletes rows that the first finding does not need; nothing else may ask then. */
  async shrinkRows(): Promise<void> {
    const [finding] = this.findings;
    if (!finding) return;
    const { question, outcome, setting } = finding;
    const kept = new Set(this.#prepared.worlds.flatMap(({ persons }) => persons.map(({ id }) => id)));
    const isWrong = (rows: Rows) => isWrongAlike({ ...setting, rows }, question, outcome);
    const rows = await shrinkRows(this.#database.owner, setting.rows, kept, isWrong);
    const smaller = { ...setting, rows };
    const again = await ask(smaller, question);
    if (again.wrong) this.findings[0] = { ...finding, setting: smaller, outcome: again };
  }
}

/** Whether the same kind of thing is wrong, in any of the ways. */
async function isWrongAlike(setting: Setting, question: Question, outcome: Outcome): Promise<boolean> {
  if (!isFit(setting, question)) return false;
  const found = await ask(setting, question, outcome.wrong?.way === 'cold');
  return found.wrong !== null && kindOf(found) === kindOf(outcome);
}

/** Requests under way at once. */
const lanes = 4;
const fewest = 20;
/** So many findings are made small. */
const maxShrunk = 40;
const maxTries = 400;
