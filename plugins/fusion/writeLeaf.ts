import { GraphQLID, GraphQLInt, GraphQLString } from 'postgraphile/graphql';
import { encodeNodeId } from '../NodeIdPlugin.ts';
import { computeStep, type LambdaStep } from './computeStep.ts';
import type { OutputPlan, Step } from './internals.ts';
import { Refused, type Scope, type Write } from './Scope.ts';
import { writeNodeId } from './writeNodeId.ts';

/** A scalar or an enum. */
export function writeLeaf({ type, rootStep }: OutputPlan, scope: Scope): Write {
  const { graphqlType } = type;
  if (!graphqlType) throw new Refused('A leaf without a type');
  const { serialize } = graphqlType;

  if (serialize === GraphQLID.serialize && (rootStep as Step & Partial<LambdaStep>).fn === encodeNodeId) {
    return writeNodeId(rootStep, scope);
  }
  const value = computeStep(rootStep, scope);
  if (serialize === GraphQLString.serialize || serialize === GraphQLID.serialize) {
    return (frame, json) => {
      const text = value(frame);
      if (text == null) return json.null();
      return json.string(typeof text === 'string' ? text : String(serialize(text)));
    };
  }
  if (serialize === GraphQLInt.serialize) {
    return (frame, json) => {
      const number = value(frame);
      if (number == null) return json.null();
      return json.json(`${((number as number) | 0) === number ? number : serialize(number)}`);
    };
  }
  return (frame, json) => {
    const found = value(frame);
    const serialized = found == null ? null : graphqlType.serialize(found);
    if (serialized == null) return json.null();
    return typeof serialized === 'string' ? json.string(serialized) : json.json(JSON.stringify(serialized));
  };
}
