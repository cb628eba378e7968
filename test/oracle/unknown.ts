import {
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { drawnArguments } from './documents/arguments.ts';
import { isAnswered } from './documents/drawDocument.ts';
import { isKnownOrder } from './orders.ts';

/** Fields, arguments and orders that queries may have and the oracle does not know, so that none is left out unseen. */
export function unknownTo(schema: GraphQLSchema): string[] {
  const unknown: string[] = [];
  const seen = new Set<string>();
  const look = (type: GraphQLNamedType | null | undefined): void => {
    if (!type || seen.has(type.name)) return;
    seen.add(type.name);
    if (isAbstractType(type)) for (const one of schema.getPossibleTypes(type)) look(one);
    if (!isObjectType(type) && !isInterfaceType(type)) return;
    for (const field of Object.values(type.getFields())) {
      if (!isAnswered(schema, type, field.name)) {
        unknown.push(`${type.name}.${field.name}`);
        continue;
      }
      for (const argument of field.args) {
        if (!drawnArguments.has(argument.name)) unknown.push(`${type.name}.${field.name}(${argument.name})`);
        const values = getNamedType(argument.type);
        if (!isEnumType(values)) continue;
        for (const { name } of values.getValues()) if (!isKnownOrder(name)) unknown.push(`${values.name}.${name}`);
      }
      look(getNamedType(field.type));
    }
  };
  look(schema.getQueryType());
  return [...new Set(unknown)];
}
