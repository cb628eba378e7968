import {
  type DocumentNode,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Answer } from './answer.ts';
import { isAnswered } from './documents/drawDocument.ts';
import { resolvers } from './schema.ts';

/** What was drawn and what came of it, so that a hole in what is drawn is seen. */
export class Coverage {
  readonly #schema: GraphQLSchema;
  /** Fields and arguments of documents that were executed. */
  readonly #hits = new Map<string, number>();
  readonly #refusedFor = new Map<string, number>();
  #executed = 0;
  #refused = 0;
  #withErrors = 0;
  #connections = 0;
  #nonEmpty = 0;
  #nulls = 0;
  #values = 0;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** A document and its answers, of which the first that was not refused counts. */
  count(document: DocumentNode, answers: readonly Answer[]): void {
    const answer = answers.find(({ status }) => status === 200) ?? answers[0];
    if (answer?.status !== 200) {
      this.#refused += 1;
      const reason = answer?.refusedFor ?? 'nothing';
      this.#refusedFor.set(reason, (this.#refusedFor.get(reason) ?? 0) + 1);
      return;
    }
    this.#executed += 1;
    if (answer.errors.length > 0) this.#withErrors += 1;
    const types = new TypeInfo(this.#schema);
    const hit = (name: string) => void this.#hits.set(name, (this.#hits.get(name) ?? 0) + 1);
    visit(
      document,
      visitWithTypeInfo(types, {
        Field: (node) => hit(`${types.getParentType()?.name}.${node.name.value}`),
        Argument: (node) => hit(`${types.getParentType()?.name}.${types.getFieldDef()?.name}(${node.name.value})`),
      }),
    );
    this.#look(answer.data);
  }

  #look(value: unknown): void {
    this.#values += 1;
    if (value === null) this.#nulls += 1;
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (['nodes', 'edges'].includes(name) && Array.isArray(inner)) {
        this.#connections += 1;
        if (inner.length > 0) this.#nonEmpty += 1;
      }
      this.#look(inner);
    }
  }

  get documents(): number {
    return this.#executed + this.#refused;
  }

  /** Fields and arguments that documents may have and none had. */
  missed(): string[] {
    return this.#all().filter((name) => !this.#hits.has(name));
  }

  report(seconds: number): string {
    const share = (part: number, whole: number) => `${Math.round((100 * part) / Math.max(whole, 1))} %`;
    const counts = this.#all().map((name) => [name, this.#hits.get(name) ?? 0] as const);
    const least = [...counts].sort(([, a], [, b]) => a - b).slice(0, 8);
    const { documents } = this;
    return [
      `${documents} answers in ${Math.round(seconds)} s, ${(documents / seconds).toFixed(1)} a second`,
      `refused ${share(this.#refused, documents)} (${[...this.#refusedFor].map(([reason, count]) => `${reason} ${count}`).join(', ')}), with errors ${share(this.#withErrors, this.#executed)}`,
      `lists with rows ${share(this.#nonEmpty, this.#connections)}, values that are null ${share(this.#nulls, this.#values)}`,
      `fields and arguments that were hit ${counts.length - this.missed().length} of ${counts.length}`,
      `least often ${least.map(([name, hits]) => `${name} ${hits}`).join(', ')}`,
    ].join('; ');
  }

  #all(): string[] {
    const names: string[] = [];
    for (const type of Object.values(this.#schema.getTypeMap())) {
      const isAsked = isInterfaceType(type) || (isObjectType(type) && isReachable(type.name));
      if (!isAsked) continue;
      for (const field of Object.values(type.getFields())) {
        if (!isAnswered(this.#schema, type, field.name)) continue;
        names.push(
          `${type.name}.${field.name}`,
          ...field.args.map(({ name }) => `${type.name}.${field.name}(${name})`),
        );
      }
    }
    return names;
  }
}

const isReachable = (name: string): boolean =>
  name in resolvers ||
  name === 'PageInfo' ||
  /^(User|Unit|Card|CardAssignment|AccessGrant|Webhook)(Connection|Edge)$/.test(name);
