import type { OperationTypeNode } from 'postgraphile/graphql';
import type { Value } from './values.ts';

/** A document with the variables that go along, as JSON, and other ones that fit it, too. */
export type Document = {
  readonly query: string;
  readonly variables: string;
  readonly otherVariables: readonly string[];
};

export type Operation = {
  readonly kind: OperationTypeNode;
  readonly name: string;
  readonly directives: readonly Directive[];
  readonly selections: readonly Selection[];
};

/** A field, or a fragment: inline or, when it is named, apart. */
export type Selection =
  | {
      readonly name: string;
      readonly alias: string | null;
      readonly args: readonly Argument[];
      readonly directives: readonly Directive[];
      readonly inner: readonly Selection[] | null;
    }
  | {
      readonly on: string;
      readonly isNamed: boolean;
      readonly directives: readonly Directive[];
      readonly inner: readonly Selection[];
    };

export type Directive = { readonly name: string; readonly args: readonly Argument[] };

export type Argument = {
  readonly name: string;
  readonly type: string;
  readonly value: Value;
  /** Where it is a variable, the values of other requests. */
  readonly others: readonly Value[];
  readonly as: 'literal' | 'variable' | 'default';
};

/** Writes an operation down; variables and fragments get their names here. */
export function render({ kind, name, directives, selections }: Operation): Document {
  const declared: string[] = [];
  const given: string[] = [];
  const others: string[][] = Array.from({ length: otherRequests }, () => []);
  const fragments: string[] = [];

  const ofSelections = (all: readonly Selection[]): string => `{ ${all.map(ofSelection).join(' ')} }`;

  const ofSelection = (selection: Selection): string => {
    const used = ofDirectives(selection.directives);
    if ('name' in selection) {
      const alias = selection.alias === null ? '' : `${selection.alias}: `;
      const inner = selection.inner ? ` ${ofSelections(selection.inner)}` : '';
      return `${alias}${selection.name}${ofArguments(selection.args)}${used}${inner}`;
    }
    const inner = ofSelections(selection.inner);
    if (!selection.isNamed) return `... on ${selection.on}${used} ${inner}`;
    const fragment = `F${fragments.length}`;
    fragments.push(`fragment ${fragment} on ${selection.on} ${inner}`);
    return `...${fragment}${used}`;
  };

  const ofDirectives = (all: readonly Directive[]): string =>
    all.map((directive) => ` @${directive.name}${ofArguments(directive.args)}`).join('');

  const ofArguments = (args: readonly Argument[]): string =>
    args.length > 0 ? `(${args.map((argument) => `${argument.name}: ${ofValue(argument)}`).join(', ')})` : '';

  const ofValue = ({ type, value, others: otherValues, as }: Argument): string => {
    if (as === 'literal') return value.literal;
    const variable = `v${declared.length}`;
    declared.push(`$${variable}: ${type}${as === 'default' ? ` = ${value.literal}` : ''}`);
    if (as === 'variable') given.push(`"${variable}":${value.json}`);
    for (const [index, { json }] of otherValues.entries()) others[index]?.push(`"${variable}":${json}`);
    return `$${variable}`;
  };

  const operation = `${ofDirectives(directives)} ${ofSelections(selections)}`;
  const variables = declared.length > 0 ? `(${declared.join(', ')})` : '';
  const query = [`${kind} ${name}${variables}${operation}`, ...fragments].join('\n');
  return { query, variables: `{${given}}`, otherVariables: others.map((each) => `{${each}}`) };
}

/** How many requests repeat a document with other variables. */
export const otherRequests = 3;
