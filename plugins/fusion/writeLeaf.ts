import { GraphQLID, GraphQLInt, GraphQLString } from 'postgraphile/graphql';
import { encodeNodeId } from '../NodeIdPlugin.ts';
import { computeStep, type LambdaStep } from './computeStep.ts';
import type { OutputPlan, Step } from './internals.ts';
import { Refused, type Scope, type Write } from './Scope.ts';

/** A scalar or an enum. */
export function writeLeaf({ type, rootStep }: OutputPlan, scope: Scope): Write {
  const { graphqlType } = type;
  if (!graphqlType) throw new Refused('A leaf without a type');
  const { serialize } = graphqlType;
  const value = computeStep(rootStep, scope);

  if (serialize === GraphQLID.serialize && (rootStep as Step & Partial<LambdaStep>).fn === encodeNodeId) {
    return (frame) => {
      const id = value(frame);
      return id === null ? 'null' : `"${id}"`;
    };
  }
  if (serialize === GraphQLString.serialize || serialize === GraphQLID.serialize) {
    return (frame) => {
      const text = value(frame);
      if (typeof text === 'string') return quote(text);
      return text == null ? 'null' : quote(String(serialize(text)));
    };
  }
  if (serialize === GraphQLInt.serialize) {
    return (frame) => {
      const number = value(frame);
      if (((number as number) | 0) === number) return `${number}`;
      return number == null ? 'null' : `${serialize(number)}`;
    };
  }
  return (frame) => {
    const found = value(frame);
    return found == null ? 'null' : toJson(graphqlType.serialize(found));
  };
}

function toJson(value: unknown): string {
  if (value == null) return 'null';
  return typeof value === 'string' ? quote(value) : JSON.stringify(value);
}

export function quote(text: string): string {
  return special.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** A quotation mark, a backslash, a control character or half of a surrogate pair. */
const special = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;
