import { didYouMean } from 'graphql/jsutils/didYouMean.js';
import { suggestionList } from 'graphql/jsutils/suggestionList.js';
import {
  type ASTNode,
  type ASTVisitor,
  GraphQLError,
  Kind,
  KnownDirectivesRule,
  KnownFragmentNamesRule,
  NoUndefinedVariablesRule,
  type ValidationContext,
  type ValidationRule,
} from 'postgraphile/graphql';

/**
 * Rules of GraphQL.js that suggest no names, by rules that do: for variables, fragments and directives.
 * GraphQL.js itself suggests fields, arguments, types and enum values.
 */
export const suggestingRules: ReadonlyMap<ValidationRule, ValidationRule> = new Map([
  [NoUndefinedVariablesRule, suggesting(NoUndefinedVariablesRule, namesOfVariables)],
  [KnownFragmentNamesRule, suggesting(KnownFragmentNamesRule, namesOfFragments)],
  [KnownDirectivesRule, suggesting(KnownDirectivesRule, namesOfDirectives)],
]);

/** A wrong name, and the names that there are. */
type Names = { readonly wrong: string; readonly known: readonly string[]; readonly sign: string };
type NamesOf = (context: ValidationContext, nodes: readonly ASTNode[]) => Names | null;

/** The sentence to append to a message: ` Did you mean "first"?`, or nothing. `what` are words between `mean` and the names. */
export function suggest(wrong: string, known: Iterable<string>, sign = '', what = ''): string {
  // The comparison takes the product of both lengths, and both names may be the client's.
  if (wrong.length > maxLength) return '';
  const short = Iterator.from(known).filter((name) => name.length <= maxLength);
  const near = suggestionList(wrong, [...short.take(maxCandidates)]).map((name) => sign + name);
  return what ? didYouMean(what, near) : didYouMean(near);
}

const maxLength = 40;
const maxCandidates = 100;

function suggesting(rule: ValidationRule, namesOf: NamesOf): ValidationRule {
  return (context: ValidationContext): ASTVisitor => {
    if (context.hideSuggestions) return rule(context);
    const reportError = (error: GraphQLError) => {
      const names = namesOf(context, error.nodes ?? []);
      const suggestion = names ? suggest(names.wrong, names.known, names.sign) : '';
      const { nodes = null } = error;
      context.reportError(suggestion ? new GraphQLError(error.message + suggestion, { nodes }) : error);
    };
    return rule(Object.create(context, { reportError: { value: reportError } }));
  };
}

function namesOfVariables(_: ValidationContext, [variable, operation]: readonly ASTNode[]): Names | null {
  if (variable?.kind !== Kind.VARIABLE || operation?.kind !== Kind.OPERATION_DEFINITION) return null;
  const known = (operation.variableDefinitions ?? []).map((definition) => definition.variable.name.value);
  return { wrong: variable.name.value, known, sign: '$' };
}

function namesOfFragments(context: ValidationContext, [name]: readonly ASTNode[]): Names | null {
  if (name?.kind !== Kind.NAME) return null;
  const known = context
    .getDocument()
    .definitions.flatMap((definition) => (definition.kind === Kind.FRAGMENT_DEFINITION ? [definition.name.value] : []));
  return { wrong: name.value, known, sign: '' };
}

/** Null for a directive that exists and is in the wrong place. */
function namesOfDirectives(context: ValidationContext, [directive]: readonly ASTNode[]): Names | null {
  if (directive?.kind !== Kind.DIRECTIVE) return null;
  const wrong = directive.name.value;
  const known = context
    .getSchema()
    .getDirectives()
    .map(({ name }) => name);
  return known.includes(wrong) ? null : { wrong, known, sign: '@' };
}
