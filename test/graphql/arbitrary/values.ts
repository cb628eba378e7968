import fc from 'fast-check';
import {
  type GraphQLInputType,
  type GraphQLNamedInputType,
  getNamedType,
  isEnumType,
  isListType,
  isNonNullType,
} from 'postgraphile/graphql';

/** A value twice: as it stands in the JSON of variables, and as a literal in a document. */
export type Value = { readonly json: string; readonly literal: string };

/** Texts from which values are drawn, so that they meet rows and rules. */
export type Known = {
  readonly ids: readonly string[];
  readonly cursors: readonly string[];
  /** Texts that mean something, by the name of the argument that they are for. */
  readonly texts: Readonly<Record<string, readonly string[]>>;
};

export type Values = {
  /** A value that fits the argument's type, and mostly its meaning. */
  fitting(argument: { name: string; type: GraphQLInputType }): fc.Arbitrary<Value>;
  /** Any value at all: null, huge, of another type, tampered with. */
  readonly strange: fc.Arbitrary<Value>;
};

export function createValues(known: Known): Values {
  const ids = fc.constantFrom(...known.ids);
  const cursors = fc.constantFrom(...known.cursors);
  const allTexts = Object.values(known.texts).flat();
  const texts = (name: string) => fc.constantFrom(...(known.texts[name] ?? allTexts));

  const ofNamedType = (type: GraphQLNamedInputType, name: string): fc.Arbitrary<Value> => {
    if (isEnumType(type)) return fc.constantFrom(...type.getValues()).map((value) => ofName(value.name));
    if (type.name === 'Int') return fc.constantFrom(1, 2, 3, 0, 10, 100, 1000).map((size) => ofNumber(String(size)));
    if (type.name === 'Boolean') return fc.boolean().map((value) => ofNumber(String(value)));
    if (type.name === 'ID') return ids.map(ofText);
    if (type.name === 'Cursor') return cursors.map(ofText);
    return fc.oneof({ weight: 4, arbitrary: texts(name) }, anyText).map(ofText);
  };

  const ofType = (type: GraphQLInputType, name: string): fc.Arbitrary<Value> => {
    if (isNonNullType(type)) return ofType(type.ofType, name);
    if (isListType(type)) return fc.array(ofType(type.ofType, name), { maxLength: 3 }).map(ofList);
    return ofNamedType(getNamedType(type) as GraphQLNamedInputType, name);
  };

  const tampered = fc.oneof(tamperedIds(ids), tamperedCursors(cursors));
  const scalars = fc.oneof(
    fc.constantFrom(...strangeNumbers).map(ofNumber),
    fc.constantFrom('null', 'true', 'false').map(ofNumber),
    fc.constantFrom(...strangeTexts).map(ofText),
    tampered.map(ofText),
    fc.constantFrom(...allTexts).map(ofText),
    fc.string({ unit: 'binary', maxLength: 30 }).map(ofText),
    fc.constantFrom('NaN', 'Infinity', 'NAME_ASC', 'undefined', '__proto__', 'constructor').map(ofName),
  );
  const keys = fc.constantFrom('id', 'first', 'value', '__proto__', 'constructor', 'toString', 'length');
  return {
    fitting: ({ name, type }) => (isNonNullType(type) ? ofType(type, name) : withNull(ofType(type, name))),
    strange: fc.oneof(
      { weight: 5, arbitrary: scalars },
      fc.array(scalars, { maxLength: 3 }).map(ofList),
      fc.array(fc.tuple(keys, scalars), { maxLength: 2 }).map(ofObject),
      fc.array(fc.array(scalars, { maxLength: 2 }).map(ofList), { maxLength: 2 }).map(ofList),
    ),
  };
}

/** One for all arguments: to make it, fast-check cuts dozens of dangerous texts, which takes 10 ms. */
const anyText = fc.string({ minLength: 1 });

const withNull = (values: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 9, arbitrary: values }, fc.constant(ofNumber('null')));

export const ofText = (text: string): Value => ({ json: JSON.stringify(text), literal: JSON.stringify(text) });
const ofNumber = (number: string): Value => ({ json: number, literal: number });
const ofName = (name: string): Value => ({ json: JSON.stringify(name), literal: name });
const ofList = (values: readonly Value[]): Value => ({
  json: `[${values.map(({ json }) => json)}]`,
  literal: `[${values.map(({ literal }) => literal)}]`,
});
const ofObject = (entries: readonly (readonly [string, Value])[]): Value => ({
  json: `{${entries.map(([key, { json }]) => `${JSON.stringify(key)}:${json}`)}}`,
  literal: `{${entries.map(([key, { literal }]) => `${key}: ${literal}`)}}`,
});

/** An id with its type, its key or its bytes changed. */
function tamperedIds(ids: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const inside = fc.tuple(ids, changes).map(([id, change]) => base64url(change(unbase64(id))));
  return fc.oneof(
    inside,
    fc.tuple(ids, changes).map(([id, change]) => change(id)),
  );
}

/** A cursor with another value in it, one more or one less, or its bytes changed. */
function tamperedCursors(cursors: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const parts = fc.constantFrom<unknown>(null, 0, 1e308, -1, true, {}, [], '', 'z', '\0', '\ud83d', '1); select', [[]]);
  const inside = fc.tuple(cursors, fc.nat(3), parts, fc.boolean()).map(([cursor, at, part, insert]) => {
    const changed: unknown[] = JSON.parse(unbase64(cursor));
    changed.splice(at, insert ? 0 : 1, part);
    return Buffer.from(JSON.stringify(changed)).toString('base64');
  });
  return fc.oneof(
    inside,
    fc.tuple(cursors, changes).map(([cursor, change]) => change(cursor)),
  );
}

const changes: fc.Arbitrary<(text: string) => string> = fc.oneof(
  fc.tuple(fc.nat(60), fc.constantFrom('', '0', 'f', 'Z', '=', '-', ':', '\0', 'é', '😀')).map(
    ([at, character]) =>
      (text: string) =>
        text.slice(0, at) + character + text.slice(at + 1),
  ),
  fc.constantFrom(
    (text: string) => text.toUpperCase(),
    (text: string) => text + text,
    (text: string) => `${text} `,
    (text: string) => text.replace(/^\w+/, 'Card'),
    (text: string) => text.replace(/^\w+/, 'Query'),
    (text: string) => text.replace(/^\w+/, 'User'),
    (text: string) => text.replaceAll('-', ''),
  ),
);

const strangeNumbers = [
  ...['-1', '-0', '0.0', '1.5', '1e3', '1001', '2147483647', '2147483648', '-2147483649', '9007199254740993'],
  ...['18446744073709551616', '1e21', '1e308', '1e400', '-1e400', '1e-400', '9'.repeat(400)],
];

const strangeTexts = [
  ...['', ' ', '\0', '\ud83d', '\ude00\ud83d', '\ufeff', '\u2028', '\u202etxt.exe', '\u007f', '\u0085', '😀', 'İ', 'ß'],
  ...["'; drop table users --", '\\', '"', '%', '_', '$1', '{}', '[]', 'null', '1', '../../etc/passwd', '<script>'],
  ...['x'.repeat(201), '😀'.repeat(201), 'x'.repeat(5000), '__proto__', 'constructor', 'hasOwnProperty'],
];

const unbase64 = (text: string) => Buffer.from(text, 'base64url').toString();
const base64url = (text: string) => Buffer.from(text).toString('base64url');
