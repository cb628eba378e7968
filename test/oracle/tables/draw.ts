import type { Random } from '../random.ts';
import type { Case, Column, FilterOperator, Index, Interface, Reference, Row, Table, TableFunction } from './model.ts';
import { camelCase, typeNameOf } from './model.ts';
import { type TypeName, typeNames, typeOf } from './types.ts';

/** Draws tables that may refer to those before them. */
export function drawCase(random: Random, count: number): Case {
  const tables: Table[] = [];
  for (let index = 0; index < count; index++) tables.push(drawTable(random, `t${index + 1}_items`, tables));
  return { tables };
}

const keyTypes = typeNames.filter((name) => typeOf(name).isKey);
const plainNames = [
  'name',
  'note',
  'order',
  'limit',
  'at_noon',
  'value',
  '2nd',
  'level_1',
  'until',
  'x',
  'type_name',
  'first',
];

function drawTable(random: Random, name: string, before: readonly Table[]): Table {
  const names = random.some(plainNames, plainNames.length);
  const columns: Column[] = [];
  const add = (type: TypeName, isNullable: boolean) => {
    const column = { name: names.pop() ?? `c${columns.length}`, type, isNullable, filters: [] };
    columns.push(column);
    return column.name;
  };

  const references = drawReferences(random, name, before);
  const isInterface = random.chance(0.2);
  const key = Array.from({ length: 1 + random.below(3) }, () => add(random.pick(keyTypes), false));
  if (random.chance(0.25)) key.splice(0, key.length, 'mark');
  else if (random.chance(0.2)) key.splice(0, key.length, add('plate', false));
  const required = references.filter(({ isNullable, target }) => !isNullable && target !== name);
  if (required[0] && random.chance(0.3)) key.unshift(required[0].name);
  for (let more = random.below(4) + 1; more > 0; more--) add(random.pick(typeNames), random.chance(0.6));
  const source = columns.find(({ type }) => typeOf(type).isText);
  if (source && random.chance(0.4)) {
    const generated = random.pick([
      { type: 'int4' as const, generated: `length(${quote(source.name)})` },
      { type: 'text' as const, generated: `upper(${quote(source.name)})` },
    ]);
    columns.push({ name: 'made', isNullable: true, filters: [], ...generated });
  }
  const filtered = columns.map((column) => ({
    ...column,
    ...(random.chance(0.3) && { isRenamed: true as const }),
    ...(!key.includes(column.name) && random.chance(0.2) && { isSecret: true as const }),
    filters: drawFilters(random, column),
  }));
  const partition =
    !isInterface && key.every((part) => columns.some((column) => column.name === part)) && random.chance(0.2);
  const table = {
    name,
    columns: filtered,
    references,
    key,
    indexes: drawIndexes(random, filtered, key),
    ...(partition && { partition: random.pick(['hash', 'list', 'range'] as const) }),
    ...(isInterface && { interface: drawInterface(name, columns, key) }),
    policy: random.pick(policiesFor(references)),
    ...(!isInterface && random.chance(0.2) && { view: `v${name.slice(1)}` }),
    functions: drawFunctions(random, name, before),
  };
  return { ...table, rows: drawRows(random, table, before) };
}

export const quote = (name: string) => `"${name}"`;

function drawReferences(random: Random, name: string, before: readonly Table[]): Reference[] {
  const drawn = random.some([...before.map((table) => table.name), name], random.below(3));
  const targets = [...random.some(['units', 'users'], random.below(3)), ...drawn];
  return targets.map((target, index) => ({
    name: `r${index}`,
    target,
    isNullable: target === name || random.chance(0.5),
    forward: `to${typeNameOf(target)}${index}`,
    backward: `${camelCase(name)}Of${index}`,
    ...((target === 'units' || target === 'users') &&
      random.chance(0.4) && { conditional: `${camelCase(name)}Above${index}` }),
  }));
}

function drawFilters(random: Random, { name, type }: Column): Column['filters'] {
  const { isText, isUnordered, isList } = typeOf(type);
  const operators: FilterOperator[] = ['isNull'];
  if (!isUnordered && !isList) operators.push('anyOf', 'from', 'until', 'is');
  if (isText) operators.push('prefix');
  const base = camelCase(`by_${name}`);
  return random.some(operators, random.below(3)).map((operator) => ({ operator, argument: `${base}_${operator}` }));
}

function drawIndexes(random: Random, columns: readonly Column[], key: readonly string[]): Index[] {
  const ordered = columns.filter(({ type }) => !typeOf(type).isUnordered);
  return random.some(ordered, random.below(4)).map(({ name, isNullable, type }) => {
    const kinds: Index['kind'][] = ['plain', 'desc'];
    // A key behind it, so that it is unique whatever its values are.
    if (key.every((part) => columns.some((column) => column.name === part) || part === 'mark')) kinds.push('unique');
    if (isNullable && typeOf(type).isText) kinds.push('nulls');
    return {
      columns: [
        name,
        ...random.some(
          ordered.map((other) => other.name).filter((other) => other !== name),
          random.below(2),
        ),
      ],
      kind: random.pick(kinds),
    };
  });
}

function drawInterface(name: string, columns: readonly Column[], key: readonly string[]): Interface {
  const own = columns.filter((column) => column.isNullable && !key.includes(column.name)).map((column) => column.name);
  return {
    kinds: ['lamp', 'radio', 'bell'].map((value, index) => ({
      value,
      type: `${typeNameOf(name)}${value.charAt(0).toUpperCase()}${value.slice(1)}`,
      attributes: own.filter((_, place) => place % 4 === index),
    })),
  };
}

function policiesFor(references: readonly Reference[]): Table['policy'][] {
  const has = (target: string) => references.some((reference) => reference.target === target);
  return [
    'all',
    'none',
    ...(has('units') ? (['unit', 'unit'] as const) : []),
    ...(has('users') ? (['user', 'user'] as const) : []),
  ];
}

function drawFunctions(random: Random, name: string, before: readonly Table[]): TableFunction[] {
  const shapes = random.some(['label', 'sum', 'next', 'words', 'least', 'ofApp'] as const, random.below(5));
  return shapes.map((shape) => ({
    shape,
    name: shape === 'ofApp' ? `app_${name}_least` : `${name}_${shape}`,
    returns: shape === 'least' ? random.pick([name, ...before.map((table) => table.name)]) : name,
  }));
}

function drawRows(random: Random, table: Omit<Table, 'rows'>, before: readonly Table[]): Row[] {
  const rows: Row[] = [];
  const few = new Map(table.columns.map((column) => [column.name, random.some(valuesOf(column), 2 + random.below(6))]));
  const marksOf = (target: string, organization: number) =>
    target === 'units' || target === 'users'
      ? [0, 1, 2]
      : (before.find(({ name }) => name === target)?.rows ?? rows)
          .filter((row) => row.organization === organization)
          .map(({ mark }) => mark);
  for (const organization of [0, 1] as const) {
    for (let left = organization === 0 ? 3 + random.below(10) : 2; left > 0; left--) {
      const values = table.columns
        .filter(({ generated }) => !generated)
        .map((column) => {
          const { name, isNullable } = column;
          const value = isNullable && random.chance(0.35) ? null : random.pick(few.get(name) ?? valuesOf(column));
          return [name, value] as const;
        });
      const references = table.references.map(({ name, target, isNullable }) => {
        const marks = marksOf(target, organization);
        return [name, marks.length === 0 || (isNullable && random.chance(0.3)) ? null : random.pick(marks)] as const;
      });
      const kind = table.interface && random.pick(table.interface.kinds);
      const others =
        table.interface?.kinds.filter((other) => other !== kind).flatMap(({ attributes }) => attributes) ?? [];
      const own = values.map(([name, value]) => [name, others.includes(name) ? null : value] as const);
      // Numbers without an order, so that the order of insertion is no order of marks.
      const mark = (rows.length * 7 + 3) % 101;
      rows.push({
        organization,
        mark,
        values: { ...Object.fromEntries(own), ...(kind && { kind: kind.value }) },
        references: Object.fromEntries(references),
      });
    }
  }
  return rows;
}

const valuesOf = ({ type }: Column) => typeOf(type).values;
