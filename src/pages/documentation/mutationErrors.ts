import { type GraphQLSchema, getNamedType } from 'postgraphile/graphql';
import type { ConstraintsOfTypes } from '../../../plugins/ConstraintRulesPlugin.ts';
import type { ErrorCode } from '../../graphql/errors.ts';
import { targetOf } from './domain.ts';
import { type Field, fieldsOf } from './fields.ts';

/** `argument` is that of `extensions.argument`, if there is one. */
export type MutationError = { readonly code: ErrorCode; readonly argument: string | null; readonly sentence: string };

/**
 * The errors of a mutation that its schema implies: what it names may not exist, and its row may break a constraint.
 * The sentences are the comments of the constraints, with which the service answers, so that a new constraint is here at once.
 */
export function mutationErrors(schema: GraphQLSchema, mutation: Field): MutationError[] {
  const named = mutation.args.filter(({ name }) => identifies(mutation, name)).map(({ name }) => `\`${name}\``);
  const sentence = `There is no object in the organization that ${named.join(' or ')} names.`;
  const missing: MutationError[] = named.length > 0 ? [{ code: 'NOT_FOUND', argument: null, sentence }] : [];
  const given = new Set(mutation.args.map(({ name }) => name));
  const constraints = (schema.extensions.constraintsOfTypes ?? new Map()) as ConstraintsOfTypes;
  const rules = fieldsOf(getNamedType(mutation.type))
    .map(targetOf)
    .flatMap((type) => (type ? [type, ...type.getInterfaces()] : []))
    .flatMap(({ name }) => constraints.get(name) ?? []);
  const broken = rules.flatMap(({ argument, comment, isUnique }): MutationError[] => {
    if (argument === undefined || comment === undefined || !given.has(argument)) return [];
    return [{ code: isUnique ? 'CONFLICT' : 'BAD_USER_INPUT', argument, sentence: comment }];
  });
  return [...missing, ...broken.sort((one, other) => other.code.localeCompare(one.code))];
}

/** An argument that names an object; what is created gets its identifier only then. */
const identifies = ({ name }: Field, argument: string) =>
  /(^id|Id|[eE]xternalIdentifier)$/.test(argument) && !(name.endsWith('Create') && argument === 'externalIdentifier');
