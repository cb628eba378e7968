import { GraphQLID, GraphQLInt, GraphQLString } from 'postgraphile/graphql';
import { computeStep } from './computeStep.ts';
import type { LambdaStep, OutputPlan, Step } from './internals.ts';
import { type LayerCompiler, NotCompilableError, type Write } from './LayerCompiler.ts';
import { writeNodeId } from './writeNodeId.ts';

/** A scalar or an enum. */
export function writeLeaf({ type, rootStep }: OutputPlan, compiler: LayerCompiler): Write {
  const { graphqlType } = type;
  if (!graphqlType) throw new NotCompilableError('A leaf without a type');
  const { serialize } = graphqlType;

  if (serialize === GraphQLID.serialize && (rootStep as Step & Partial<LambdaStep>).fn?.encodesNodeId) {
    return writeNodeId(rootStep, compiler);
  }
  const value = computeStep(rootStep, compiler);
  if (serialize === GraphQLString.serialize || serialize === GraphQLID.serialize) {
    return (registers, json) => {
      const text = value(registers);
      if (text == null) return json.null();
      return json.string(typeof text === 'string' ? text : String(serialize(text)));
    };
  }
  if (serialize === GraphQLInt.serialize) {
    return (registers, json) => {
      const number = value(registers);
      if (number == null) return json.null();
      return json.json(`${((number as number) | 0) === number ? number : serialize(number)}`);
    };
  }
  return (registers, json) => {
    const found = value(registers);
    const serialized = found == null ? null : graphqlType.serialize(found);
    if (serialized == null) return json.null();
    return typeof serialized === 'string' ? json.string(serialized) : json.json(JSON.stringify(serialized));
  };
}
