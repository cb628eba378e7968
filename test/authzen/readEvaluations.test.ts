import fc from 'fast-check';
import * as authzen from '../../src/authzen/readEvaluations.ts';
import { AuthzenError } from '../../src/authzen/readEvaluations.ts';
import { weighJson } from '../../src/http/requestBody.ts';
import { isEvaluation, isEvaluations } from './schemas.ts';

const alice = { type: 'user', id: 'alice@example.com' };
const read = { name: 'can_read' };
const document = (id: string) => ({ resource: { type: 'document', id } });
const whole = { subject: alice, action: read, ...document('1') };

const membersOf = (text: string) => weighJson(Buffer.from(text)).members;
const readEvaluation = (text: string) => authzen.readEvaluation(text, membersOf(text));
const readEvaluations = (text: string) => authzen.readEvaluations(text, membersOf(text));

/** The message of the refusal, or null. */
function refusalOf(body: unknown, reader: (text: string) => unknown = readEvaluation): string | null {
  try {
    reader(typeof body === 'string' ? body : JSON.stringify(body));
    return null;
  } catch (error) {
    if (!(error instanceof AuthzenError)) throw error;
    expect(error.status).toBe(400);
    return error.message;
  }
}

// After the examples of the specification (OpenID Authorization API 1.0, sections 5 to 7).
describe('the specification’s examples', () => {
  it('of one evaluation are read', () => {
    const body = {
      subject: { ...alice, properties: { department: 'Sales', ip_address: '172.217.22.14', device_id: '8:65:ee:17' } },
      resource: { type: 'book', id: '123', properties: { library_record: { isbn: '978-0593383322' } } },
      action: { name: 'can_read', properties: { method: 'GET' } },
      context: { time: '1985-10-26T01:22-07:00', schema: 'https://schema.example.com/access-request.schema.json' },
      futureField: { nested: true },
    };

    expect(readEvaluation(JSON.stringify(body))).toMatchObject({
      subject: alice,
      action: 'can_read',
      resource: { type: 'book', id: '123' },
      at: '1985-10-26T08:22:00.000000Z',
    });
  });

  it('of several take what they lack from the top', () => {
    const context = { time: '2024-05-31T15:22-07:00' };
    const edited = { action: { name: 'can_edit' }, ...document('3') };
    const items = [document('1'), { ...document('2'), context: {} }, edited];
    const expected = {
      semantic: 'execute_all',
      evaluations: [
        { subject: alice, action: 'can_read', ...document('1'), at: '2024-05-31T22:22:00.000000Z' },
        { subject: alice, action: 'can_read', ...document('2'), at: null },
        { subject: alice, action: 'can_edit', ...document('3'), at: '2024-05-31T22:22:00.000000Z' },
      ],
    };

    const body = { subject: alice, action: read, context, evaluations: items };
    expect(readEvaluations(JSON.stringify(body))).toEqual(expected);
    const written = { evaluations: items.map((item) => ({ subject: alice, action: read, context, ...item })) };
    expect(readEvaluations(JSON.stringify(written))).toEqual(expected);
  });

  it('without evaluations, or with none, are one', () => {
    expect(readEvaluations(JSON.stringify(whole))).toBeNull();
    expect(readEvaluations(JSON.stringify({ ...whole, evaluations: [] }))).toBeNull();
  });

  it('of options, where the action is missing, is refused', () => {
    const body = {
      evaluations: [{ resource: { type: 'doc', id: '1' }, subject: { type: 'doc', id: '2' } }],
      options: { evaluations_semantic: 'execute_all', another_option: 'value' },
    };

    expect(refusalOf(body, readEvaluations)).toBe('evaluations[0] has no action.');
    expect(refusalOf({ ...body, action: read }, readEvaluations)).toBeNull();
  });
});

it.each([
  [{ action: read, ...document('1') }, 'The body has no subject.'],
  [{}, 'The body has no subject, no action, no resource.'],
  [{ ...whole, subject: { id: 'alice' } }, 'subject.type is missing.'],
  [{ ...whole, subject: { type: 'user' } }, 'subject.id is missing.'],
  [{ ...whole, subject: 'alice' }, 'subject must be an object.'],
  [{ ...whole, subject: null }, 'subject must be an object.'],
  [{ ...whole, subject: [alice] }, 'subject must be an object.'],
  [{ ...whole, subject: { ...alice, id: 1 } }, 'subject.id must be a string.'],
  [{ ...whole, subject: { ...alice, id: null } }, 'subject.id must be a string.'],
  [{ ...whole, subject: { ...alice, id: 'a\0' } }, 'subject.id must be text without U+0000.'],
  [{ ...whole, subject: { ...alice, properties: 'x' } }, 'subject.properties must be an object.'],
  [{ ...whole, action: {} }, 'action.name is missing.'],
  [{ ...whole, action: { name: 123 } }, 'action.name must be a string.'],
  [{ ...whole, resource: { type: 'unit' } }, 'resource.id is missing.'],
  [{ ...whole, resource: { id: 'unit' } }, 'resource.type is missing.'],
  [{ ...whole, context: 'now' }, 'context must be an object.'],
  [{ ...whole, context: null }, 'context must be an object.'],
  [{ ...whole, context: { time: 1 } }, 'context.time must be a time as in RFC 3339, such as 2026-01-31T08:30:00Z.'],
  [{ ...whole, context: { time: null } }, 'context.time must be a time as in RFC 3339, such as 2026-01-31T08:30:00Z.'],
  [{ ...whole, context: { time: 'now' } }, 'context.time must be a time as in RFC 3339, such as 2026-01-31T08:30:00Z.'],
  [[], 'The body must be a JSON object.'],
  ['null', 'The body must be a JSON object.'],
  ['"text"', 'The body must be a JSON object.'],
  ['', 'The body is not JSON.'],
  ['{', 'The body is not JSON.'],
  [`${JSON.stringify(whole)} more`, 'The body is not JSON.'],
  ['{"subject":{"type":"user","id":"\\ud800"}}', 'subject.id must be text without U+0000.'],
])('%j is refused: %s', (body, message) => {
  expect(refusalOf(body)).toBe(message);
  expect(refusalOf(body, (text) => readEvaluations(text) ?? readEvaluation(text))).toBe(message);
});

it.each([
  [{ ...whole, evaluations: null }, 'evaluations must be an array.'],
  [{ ...whole, evaluations: {} }, 'evaluations must be an array.'],
  [{ ...whole, evaluations: [null] }, 'evaluations[0] must be an object.'],
  [{ ...whole, evaluations: [{}, { resource: {} }] }, 'evaluations[1].resource.type is missing.'],
  [{ ...whole, evaluations: [{}], options: [] }, 'options must be an object.'],
  [
    { ...whole, evaluations: [{}], options: { evaluations_semantic: 'all' } },
    'options.evaluations_semantic must be execute_all, deny_on_first_deny, permit_on_first_permit.',
  ],
  [
    { ...whole, evaluations: Array(101).fill({}) },
    'There are more than 100 evaluations; send them in several requests.',
  ],
])('several evaluations %j are refused: %s', (body, message) => {
  expect(refusalOf(body, readEvaluations)).toBe(message);
  expect(refusalOf(body)).toBeNull();
});

describe('a name that is twice in an object', () => {
  const text = JSON.stringify(whole);
  const twice = 'A name is twice in an object of the body; send each once.';

  it.each([
    text.replace('{', '{"subject":{},'),
    text.replace('"id"', '"id":"bob","id"'),
    text.replace('"id"', '"\\u0069d":"bob","id"'),
    text.replace('{', '{"other":[{"a":1,"a":{"b":2}}],'),
    text.replace('{', '{"__proto__":1,"__proto__":2,'),
    text.replace('{', '{"":1,"":1,'),
  ])('is refused: %s', (sent) => {
    expect(refusalOf(sent)).toBe(twice);
  });

  it.each([
    text.replace('{', '{"a:b":"c\\":\\"d","e":"\\\\","f":{"a:b":[":",{"a:b":{}}]},'),
    text.replace('{', '{"__proto__":{"a":1},"constructor":{"a":1},'),
    text.replaceAll(':', ' :\n').replaceAll(',', ' ,\t'),
  ])('is told from one in another object, and from texts: %s', (sent) => {
    expect(refusalOf(sent)).toBeNull();
  });
});

it('reads what is nested deep', () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  const deeper = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
  for (const value of [deep, deeper]) {
    expect(refusalOf(JSON.stringify(whole).replace('{', `{"other":${value},`))).toBeNull();
    expect(refusalOf(JSON.stringify(whole).replace('"id"', `"properties":{"x":${value}},"id"`))).toBeNull();
    expect(refusalOf(value)).toMatch(/JSON object|has no subject/);
  }
});

it('reads exactly what fits the specification’s schemas', () => {
  const leaf = fc.constantFrom<unknown>('user', 'x', '', 1, null, true, [], {}, { type: 'a' }, { type: 'a', id: 'b' });
  const some = (names: readonly string[]) =>
    fc.record(Object.fromEntries(names.map((name) => [name, leaf])), { requiredKeys: [] });
  const entity = fc.oneof(
    { weight: 6, arbitrary: fc.constant<unknown>(alice) },
    leaf,
    some(['type', 'id', 'properties', 'other']),
  );
  const action = fc.oneof(
    { weight: 6, arbitrary: fc.constant<unknown>(read) },
    leaf,
    some(['name', 'properties', 'other']),
  );
  const context = fc.oneof(fc.constant<unknown>({}), leaf, some(['other']));
  const body = fc.record({ subject: entity, action, resource: entity, context, other: leaf }, { requiredKeys: [] });
  const semantic = fc.oneof(leaf, fc.constantFrom('execute_all', 'deny_on_first_deny', 'permit_on_first_permit'));
  const options = fc.record({ evaluations_semantic: semantic, other: leaf }, { requiredKeys: [] });
  const evaluations = fc.oneof(
    { weight: 6, arbitrary: fc.array(fc.oneof({ weight: 6, arbitrary: body }, leaf), { maxLength: 3 }) },
    leaf,
  );
  const several = fc
    .tuple(body, fc.record({ evaluations, options: fc.oneof(options, leaf) }, { requiredKeys: [] }))
    .map(([top, more]) => ({ ...top, ...more }));
  const seen = { read: 0, refused: 0 };

  fc.assert(
    fc.property(fc.oneof(body, leaf), several, (one, many) => {
      expect([one, refusalOf(one) === null]).toEqual([one, isEvaluation(one)]);
      const isRead = refusalOf(many, (text) => readEvaluations(text) ?? readEvaluation(text)) === null;
      expect([many, isRead]).toEqual([many, isEvaluations(many)]);
      seen[isRead ? 'read' : 'refused'] += 1;
    }),
    { numRuns: 1500 },
  );
  expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(50);
});
