// The specification's JSON schemas of requests and answers (OpenID Authorization API 1.0, sections 5 to 7), as tables of types and of
// what is required. They share nothing with the service.

type Check = (value: unknown) => boolean;
type Fields = Readonly<Record<string, readonly [presence: 'required' | 'optional', check: Check]>>;

const isText: Check = (value) => typeof value === 'string';
const isObject = (value: unknown): value is Record<string, unknown> =>
  Object.prototype.toString.call(value) === '[object Object]';

const fits = (value: unknown, fields: Fields): boolean =>
  isObject(value) &&
  Object.entries(fields).every(([name, [presence, check]]) =>
    Object.hasOwn(value, name) ? check(value[name]) : presence === 'optional',
  );

const isEntity: Check = (value) =>
  fits(value, { type: ['required', isText], id: ['required', isText], properties: ['optional', isObject] });
const isAction: Check = (value) => fits(value, { name: ['required', isText], properties: ['optional', isObject] });
const partsOf = (presence: 'required' | 'optional'): Fields => ({
  subject: [presence, isEntity],
  action: [presence, isAction],
  resource: [presence, isEntity],
  context: ['optional', isObject],
});

export const isEvaluation: Check = (value) => fits(value, partsOf('required'));

const semantics: readonly unknown[] = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'];
const areOptions: Check = (value) =>
  fits(value, { evaluations_semantic: ['optional', (semantic) => semantics.includes(semantic)] });

/** "The top-level keys provide default values"; "if an evaluations array is not present or is empty", it is a single evaluation. */
export const isEvaluations: Check = (value) => {
  if (!isObject(value)) return false;
  const { evaluations = [], options = {}, ...top } = value;
  if (!Array.isArray(evaluations)) return false;
  if (evaluations.length === 0) return isEvaluation(top);
  return (
    areOptions(options) &&
    fits(top, partsOf('optional')) &&
    evaluations.every((one) => fits(one, partsOf('optional')) && isEvaluation({ ...top, ...one }))
  );
};

export const isDecision: Check = (value) =>
  fits(value, { decision: ['required', (decision) => typeof decision === 'boolean'], context: ['optional', isObject] });

export const areDecisions: Check = (value) =>
  fits(value, { evaluations: ['required', (list) => Array.isArray(list) && list.every(isDecision)] });
