import fc from 'fast-check';
import { ByteBudget, TooLongError } from '../src/byteBudget.ts';
import { constantOf, JsonWriter, startOfBase64 } from '../src/JsonWriter.ts';

test('texts of every kind and length are written as JSON.stringify does it', () => {
  fc.assert(
    fc.property(fc.array(texts, { maxLength: 200 }), (values) => {
      expect(writeTexts(values)).toBe(JSON.stringify(values));
    }),
    { numRuns: 500, seed: 1 },
  );
});

test('more than fits into the buffer is written whole', () => {
  const values = Array.from({ length: 20_000 }, (_, index) => (index % 999 === 0 ? 'ж"' : `Unit ${index}`));

  expect(writeTexts(values)).toBe(JSON.stringify(values));
});

test('JSON is written as it is, and only null is distinguished', () => {
  const pieces = ['1', '-2147483648', '{"ж":[null]}', `"${'x'.repeat(100_000)}"`, 'true', 'null', '"null"'];
  const json = new JsonWriter();

  const are = pieces.map((piece) => json.json(piece));

  expect(are).toEqual([true, true, true, true, true, false, true]);
  expect(json.null()).toBe(false);
  expect(json.take()).toBe(`${pieces.join('')}null`);
});

test('ids are in base64url, however many characters the type has', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Z][A-Za-z]{1,30}$/), fc.uuid(), (type, uuid) => {
      const json = new JsonWriter();

      json.base64(startOfBase64(`${type}:`), uuid);

      expect(json.take()).toBe(JSON.stringify(Buffer.from(`${type}:${uuid}`).toString('base64url')));
    }),
  );
});

test('a writer that failed leaves nothing to the next', () => {
  const failed = new JsonWriter();
  failed.string('somebody else');

  expect(() => failed.base64(startOfBase64('Unit:'), 'жжж')).toThrow(RangeError);

  expect(writeTexts(['mine'])).toBe('["mine"]');
});

test('nothing more is written than the budget has, give or take the buffer', () => {
  const budget = new ByteBudget(200_000);
  const enough = new JsonWriter(budget);
  enough.string('x'.repeat(99_998));
  expect(enough.take()).toHaveLength(100_000);
  expect(budget.left).toBe(100_000);

  const tooMuch = new JsonWriter(budget);
  const write = (times: number) => {
    for (let index = 0; index < times; index++) tooMuch.string('Unit');
  };

  expect(() => write(16_600)).not.toThrow();
  expect(() => write(16_600)).toThrow(TooLongError);
  expect(() => new JsonWriter(budget).string('x'.repeat(1000))).toThrow(TooLongError);
});

test('a constant that is too long for the buffer is refused', () => {
  expect(() => constantOf('x'.repeat(100_000))).toThrow(RangeError);
});

const texts = fc.oneof(
  fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\u007f', 'é', 'ÿ', 'Ā', '\ud800', '😀', 'a', ' ') }),
  fc.string({ unit: 'binary' }),
  fc.uuid(),
  fc
    .tuple(fc.constantFrom('x', 'é', 'ж', '"'), fc.integer({ min: 1000, max: 70_000 }))
    .map(([unit, length]) => unit.repeat(length)),
);

function writeTexts(values: readonly string[]): string {
  const json = new JsonWriter();
  json.constant(constantOf('['));
  for (const [index, value] of values.entries()) {
    if (index > 0) json.constant(constantOf(','));
    json.string(value);
  }
  json.constant(constantOf(']'));
  return json.take();
}
