import type { Check, Connection, Field, Root } from './checks.ts';
import { type Case, camelCase, type Table } from './model.ts';

/** Smaller cases: without a table, function, column, index or row that the check does not ask for. */
export function* smallerCases(drawn: Case, check: Check | undefined): Generator<Case> {
  const needed = check ? namesIn(check) : null;
  // All at once what is not asked, since each try builds a schema.
  if (needed) yield onlyNeeded(drawn, needed);
  for (const [index, table] of drawn.tables.entries()) {
    if (!needed?.has(table.name) && !(table.view && needed?.has(table.view)) && !isReferredTo(drawn, table))
      yield { tables: drawn.tables.toSpliced(index, 1) };
    for (const smaller of smallerTables(table, needed)) yield { tables: drawn.tables.with(index, smaller) };
  }
}

const isReferredTo = ({ tables }: Case, { name }: Table) =>
  tables.some(
    (other) =>
      other.name !== name &&
      (other.references.some(({ target }) => target === name) ||
        other.functions.some(({ returns }) => returns === name)),
  );

/** Every word of a check: names of tables, columns, references, functions and arguments. */
function namesIn(check: Check): Set<string> {
  const names = new Set<string>();
  JSON.stringify(check, (_, value) => {
    if (typeof value === 'string') names.add(value.replace(/_(ASC|DESC)$/, '').toLowerCase()).add(value);
    return value;
  });
  return names;
}

const isNamed = (names: Set<string> | null, name: string) =>
  names === null || names.has(name) || names.has(name.toLowerCase());

function onlyNeeded(drawn: Case, needed: Set<string>): Case {
  const lean = drawn.tables.map((table) => {
    const functions = table.functions.filter(({ shape, name }) =>
      needed.has(shape === 'ofApp' ? camelCase(name.replace(/^app_/, '')) : shape),
    );
    return withoutColumns({ ...table, functions }, (name) => !isNamed(needed, name));
  });
  const tables = lean.filter(
    (table) =>
      needed.has(table.name) || (table.view && needed.has(table.view)) || isReferredTo({ tables: lean }, table),
  );
  return { tables };
}

/** Without columns and references that nothing else needs. */
function withoutColumns(table: Table, isDropped: (name: string) => boolean): Table {
  const hasGenerated = (name: string) =>
    table.columns.some((column) => column.generated?.includes(`"${name}"`) && !isDropped(column.name));
  const columns = table.columns.filter(
    ({ name }) => table.key.includes(name) || hasGenerated(name) || !isDropped(name),
  );
  const references = table.references.filter(
    ({ name, target }) => table.key.includes(name) || table.policy === target.slice(0, -1) || !isDropped(name),
  );
  const isThere = (name: string) => columns.some((column) => column.name === name);
  const indexes = table.indexes.filter((index) => index.columns.every(isThere));
  const kinds = table.interface?.kinds.map((kind) => ({ ...kind, attributes: kind.attributes.filter(isThere) }));
  return { ...table, columns, references, indexes, ...(kinds && { interface: { kinds } }) };
}

function* smallerTables(table: Table, needed: Set<string> | null): Generator<Table> {
  if (table.rows.length > 3) {
    const half = Math.ceil(table.rows.length / 2);
    yield { ...table, rows: table.rows.slice(half) };
    yield { ...table, rows: table.rows.slice(0, half) };
  }
  for (const index of table.rows.keys()) yield { ...table, rows: table.rows.toSpliced(index, 1) };
  const { view, partition, interface: made, ...plain } = table;
  if (view && !needed?.has(view)) yield { ...plain, ...(partition && { partition }), ...(made && { interface: made }) };
  if (partition) yield { ...plain, ...(view && { view }), ...(made && { interface: made }) };
  if (made) yield { ...plain, ...(view && { view }), ...(partition && { partition }) };
  if (table.policy !== 'all') yield { ...table, policy: 'all' };
  for (const index of table.functions.keys()) yield { ...table, functions: table.functions.toSpliced(index, 1) };
  for (const index of table.indexes.keys()) yield { ...table, indexes: table.indexes.toSpliced(index, 1) };
  for (const { name } of [...table.columns, ...table.references]) {
    if (!needed || !isNamed(needed, name)) {
      const smaller = withoutColumns(table, (other) => other === name);
      if (smaller.columns.length + smaller.references.length < table.columns.length + table.references.length)
        yield smaller;
    }
  }
  for (const [index, { filters }] of table.columns.entries()) {
    const column = table.columns[index];
    if (column && filters.length > 0)
      yield { ...table, columns: table.columns.with(index, { ...column, filters: [] }) };
  }
  if (table.key.length > 1)
    for (const index of table.key.keys()) yield { ...table, key: table.key.toSpliced(index, 1) };
}

/** Smaller checks: without a root, field, filter, order or argument. */
export function* smallerChecks(check: Check): Generator<Check> {
  if (check.kind === 'mutation') {
    for (const name of Object.keys(check.texts)) {
      const { [name]: _, ...texts } = check.texts;
      yield { ...check, texts };
    }
    for (const index of check.marks.keys())
      if (check.shape === 'many') yield { ...check, marks: check.marks.toSpliced(index, 1) };
    for (const selection of smallerSelections(check.selection)) yield { ...check, selection };
    return;
  }
  if (check.kind === 'walk') {
    const [walked] = check.root.selection;
    if (walked?.kind !== 'connection') return;
    for (const selection of smallerSelections(check.root.selection)) {
      const [field, ...others] = selection;
      const isWalked = field?.kind === 'connection' && field.wants.length === walked.wants.length;
      if (isWalked && others.length === 0) yield { ...check, root: { ...check.root, selection } };
    }
    return;
  }
  for (const [index, root] of check.roots.entries()) {
    if (check.roots.length > 1) yield { ...check, roots: check.roots.toSpliced(index, 1) };
    for (const selection of smallerSelections(root.selection))
      yield { ...check, roots: check.roots.with(index, { ...root, selection } as Root) };
  }
}

function* smallerSelections(fields: readonly Field[]): Generator<readonly Field[]> {
  if (fields.length > 1) for (const index of fields.keys()) yield fields.toSpliced(index, 1);
  for (const [index, field] of fields.entries()) {
    for (const smaller of smallerFields(field)) yield fields.with(index, smaller);
  }
}

function* smallerFields(field: Field): Generator<Field> {
  if (field.kind === 'connection') yield* smallerConnections(field);
  if (field.kind === 'forward' || (field.kind === 'call' && field.selection.length > 0)) {
    for (const selection of smallerSelections(field.selection)) yield { ...field, selection };
  }
}

function* smallerConnections(field: Connection): Generator<Connection> {
  for (const index of field.filters.keys()) yield { ...field, filters: field.filters.toSpliced(index, 1) };
  if (field.ids) yield { ...field, ids: undefined };
  if (Object.keys(field.page).length > 0) yield { ...field, page: {} };
  for (const index of field.orderBy.keys()) yield { ...field, orderBy: field.orderBy.toSpliced(index, 1) };
  for (const index of field.wants.keys()) yield { ...field, wants: field.wants.toSpliced(index, 1) };
  for (const selection of smallerSelections(field.selection)) yield { ...field, selection };
}
