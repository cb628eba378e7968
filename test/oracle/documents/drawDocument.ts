import {
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import type { Caller } from '../access.ts';
import { randomOf } from '../random.ts';
import { resolvers } from '../schema.ts';
import { type Drawing, drawArguments, drawNodeArgument } from './arguments.ts';
import type { Known } from './known.ts';
import { DrawnVariables, plainValue } from './variables.ts';

export type DrawnDocument = {
  readonly text: string;
  readonly variables: readonly Record<string, unknown>[];
};

/** A document for a kind of caller, drawn from the schema by the seed's name. It may fail validation where selections meet. */
export function drawDocument(
  schema: GraphQLSchema,
  known: Known,
  kind: Caller['kind'],
  name: readonly (string | number)[],
): DrawnDocument {
  const random = randomOf(...name);
  const variables = new DrawnVariables(random);
  const draft = new Draft(schema, { random, known, variables });
  const selections = draft.root(kind);
  const title = random.pick(['', ' Drawn', ' Q']);
  const head = String(variables) || title ? `query${title}${variables} ` : random.pick(['', 'query ']);
  return { text: `${head}{ ${selections} }${draft.fragments()}`, variables: variables.values() };
}

type Fragment = { readonly name: string; readonly type: GraphQLCompositeType; readonly text: string };

class Draft {
  readonly #schema: GraphQLSchema;
  readonly #drawing: Drawing;
  readonly #fragments: Fragment[] = [];
  readonly #spread = new Set<string>();
  #nodeCount = 0;
  /** How many more fields it may get. */
  #left: number;

  constructor(schema: GraphQLSchema, drawing: Drawing) {
    this.#schema = schema;
    this.#drawing = drawing;
    this.#left = drawing.random.pick([6, 10, 15, 20, 30, 45]);
  }

  /** Of the fields that the caller's token is for, and now and then of others. */
  root(kind: Caller['kind']): string {
    const { random } = this.#drawing;
    const query = this.#schema.getQueryType() as GraphQLCompositeType;
    const own = { app: 'app', person: 'viewer', basic: 'node' }[kind];
    const levels = random.pick([3, 4, 5, 6, 7, 8]);
    const used = new Set<string>();
    const count = random.pick([1, 1, 1, 2, 2, 3]);
    const failing = { app: 'viewer { id }', person: 'viewer { externalAuthenticationToken }', basic: 'app { name }' }[
      kind
    ];
    // A field that fails has its own way through the service, for those beside it, too.
    const last = random.chance(0.15) ? ` failing: ${failing}` : '';
    const fields = Array.from({ length: count }, () => {
      const name = random.weighted({ own: 6, node: 3, app: 0.4, viewer: 0.4, deep: 0.2, __typename: 0.1 });
      if (name === 'deep') return this.#deep();
      if ((name === 'own' ? own : name) === 'node') return this.#nodes(levels);
      return this.#field(query, name === 'own' ? own : name, levels, used);
    });
    return `${fields.join(' ')}${last}`;
  }

  /** One or several of the same type, with the same selection, of which the caller may see some. */
  #nodes(levels: number): string {
    const { random, known, variables } = this.#drawing;
    const name = random.pickOr([...known.ids.keys()], 'User');
    const type = this.#schema.getType(name) as GraphQLCompositeType;
    const node = this.#schema.getType('Node') as GraphQLCompositeType;
    const within = random.chance(0.8)
      ? `... on ${name} { ${this.#selections(type, levels - 1)} }`
      : this.#selections(node, levels - 1);
    const count = random.pick([1, 1, 2, 3]);
    return Array.from({ length: count }, (_, index) => {
      const selections = index === 0 ? within : variables.again(within);
      return `n${this.#nodeCount++}: node${drawNodeArgument(this.#drawing, name)}${this.#directives()} { ${selections} }`;
    }).join(' ');
  }

  /** Many levels of units, down or up. */
  #deep(): string {
    const { random } = this.#drawing;
    const levels = random.between(5, 40);
    const list = random.pick(['nodes', 'edges { node']);
    let text = 'name';
    for (let level = 0; level < levels; level += 1) {
      const leaf = random.pick(['', 'id ', 'externalIdentifier ', 'name ']);
      text = random.chance(0.8)
        ? `${leaf}children { ${list} { ${text} }${list === 'nodes' ? '' : ' }'} }`
        : `${leaf}parent { ${text} }`;
    }
    const { known } = this.#drawing;
    const id = random.pickOr(known.ids.get('Unit') ?? [], 'x');
    return `deep${random.below(1000)}: node(id: ${JSON.stringify(id)}) { ... on Unit { ${text} } }`;
  }

  /** Those that are spread, as definitions. */
  fragments(): string {
    return this.#fragments
      .filter(({ name }) => this.#spread.has(name))
      .map(({ name, type, text }) => ` fragment ${name} on ${type.name} { ${text} }`)
      .join('');
  }

  #selections(type: GraphQLCompositeType, levels: number): string {
    const { random } = this.#drawing;
    const used = new Set<string>();
    const names = this.#namesOf(type, levels);
    const count = random.pick([1, 1, 2, 2, 3, 4]);
    const texts: string[] = [];
    for (let nth = 0; nth < count && (nth === 0 || this.#left > 0); nth += 1) {
      const kind = isAbstractType(type)
        ? random.weighted({ field: 4, inline: 5, spread: 2 })
        : random.weighted({ field: 16, inline: 1.5, spread: 1 });
      if (kind === 'inline') texts.push(this.#inline(type, levels));
      else if (kind === 'spread') texts.push(this.#namedSpread(type, levels));
      else texts.push(this.#field(type, random.pick(names), levels, used));
    }
    return texts.join(' ');
  }

  /** Composite fields count more often than leaves as long as there is room for them. */
  #namesOf(type: GraphQLCompositeType, levels: number): string[] {
    const fields = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
    const known = fields.filter(({ name }) => isAnswered(this.#schema, type, name));
    const isDeep = (field: GraphQLField<unknown, unknown>) => isCompositeType(getNamedType(field.type));
    const leaves = known.filter((field) => !isDeep(field)).map(({ name }) => name);
    const deep = levels > 0 && this.#left > 0 ? known.filter(isDeep).map(({ name }) => name) : [];
    return deep.length > 0 ? [...leaves, ...deep, ...deep, ...deep] : [...leaves, '__typename'];
  }

  #field(type: GraphQLCompositeType, name: string, levels: number, used: Set<string>): string {
    this.#left -= 1;
    const { random } = this.#drawing;
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
    const inner = field && getNamedType(field.type);
    const given = field ? drawArguments(field, this.#drawing) : '';
    const text = `${name}${given}`;
    // The same field again is the same, or has a name of its own.
    let alias = random.chance(0.2) ? random.pick(aliases) : '';
    while (used.has(alias || name)) alias = `${random.pick(aliases)}${random.below(10)}`;
    used.add(alias || name);
    const selections = isCompositeType(inner) ? ` { ${this.#selections(inner, levels - 1)} }` : '';
    const one = `${alias && `${alias}: `}${text}${this.#directives()}${selections}`;
    return field && given && selections && random.chance(0.25) ? `${one} ${this.#twin(field, selections, used)}` : one;
  }

  /** The same field and selection beside it, with other arguments. */
  #twin(field: GraphQLField<unknown, unknown>, selections: string, used: Set<string>): string {
    const { random, variables } = this.#drawing;
    let alias = random.pick(aliases);
    while (used.has(alias)) alias = `${random.pick(aliases)}${random.below(10)}`;
    used.add(alias);
    return `${alias}: ${field.name}${drawArguments(field, this.#drawing)}${this.#directives()}${variables.again(selections)}`;
  }

  #inline(type: GraphQLCompositeType, levels: number): string {
    const { random } = this.#drawing;
    const on = random.chance(0.15) ? type : this.#overlapping(type);
    const condition = on === type && random.chance(0.5) ? '' : ` on ${on.name}`;
    return `...${condition}${this.#directives()} { ${this.#selections(on, levels)} }`;
  }

  /** One that is there, or a new one, which is spread elsewhere later. */
  #namedSpread(type: GraphQLCompositeType, levels: number): string {
    const { random } = this.#drawing;
    const there = this.#fragments.filter((fragment) => this.#overlap(fragment.type, type));
    let fragment = random.chance(0.5) ? random.pickOr(there, undefined) : undefined;
    if (!fragment) {
      const on = random.chance(0.4) ? type : this.#overlapping(type);
      const text = this.#selections(on, Math.min(levels, 3));
      fragment = { name: `F${this.#fragments.length}`, type: on, text };
      this.#fragments.push(fragment);
    }
    this.#spread.add(fragment.name);
    return `...${fragment.name}${this.#directives()}`;
  }

  #directives(): string {
    const { random, variables } = this.#drawing;
    if (random.chance(0.93)) return '';
    const draw = () => plainValue(random.chance(0.5));
    const value = random.chance(0.6) ? variables.take('Boolean!', 'if', draw, false) : draw().literal;
    return ` @${random.pick(['include', 'skip'])}(if: ${value})`;
  }

  #overlapping(type: GraphQLCompositeType): GraphQLCompositeType {
    const all = Object.values(this.#schema.getTypeMap()).filter(isCompositeType);
    return this.#drawing.random.pick(
      all.filter(
        (other) => other === type || (this.#overlap(type, other) && (isAbstractType(other) || other.name in resolvers)),
      ),
    );
  }

  #overlap(a: GraphQLCompositeType, b: GraphQLCompositeType): boolean {
    const types = (type: GraphQLCompositeType) => (isAbstractType(type) ? this.#schema.getPossibleTypes(type) : [type]);
    return types(a).some((type) => types(b).includes(type));
  }
}

const aliases = ['a', 'b', 'c', 'd', 'x', 'name', 'nodes', 'id', 'card', 'totalCount'];

/** Whether the oracle has an answer to a field: its own, or one of a connection's plain objects. */
export function isAnswered(schema: GraphQLSchema, type: GraphQLCompositeType, name: string): boolean {
  const types = isAbstractType(type) ? schema.getPossibleTypes(type).filter((one) => one.name in resolvers) : [type];
  return types.every((one) => {
    const fields = resolvers[one.name];
    return fields ? name in fields : /(Connection|Edge|PageInfo)$/.test(one.name) && !one.name.startsWith('Change');
  });
}
