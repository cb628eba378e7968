import type { GraphQLError } from 'postgraphile/graphql';
import type { InexactNumber } from '../request/findInexactNumbers.ts';
import { argumentOf } from './argumentOf.ts';
import type { PreparedDocument } from './document.ts';
import { inexact, maxErrors, shortened } from './inexactLiterals.ts';
import { selectedIn } from './misplacedNulls.ts';

/** Rejects numbers in declared variables that a double cannot keep, since others would be stored. */
export function inexactVariables(prepared: PreparedDocument, numbers: readonly InexactNumber[]): GraphQLError[] {
  if (numbers.length === 0) return [];
  const declared = new Set(prepared.operation.variableDefinitions?.map(({ variable }) => variable.name.value));
  return numbers
    .filter(({ variable }) => declared.has(variable))
    .slice(0, maxErrors)
    .map(({ variable, path, source }) => {
      const argument = argumentOf(variable, selectedIn(prepared));
      return inexact(`Variable "$${variable}" has the number ${shortened(source)} at "${path}"`, {
        argument,
        variable,
      });
    });
}
