import type { FunctionResource } from './functions/FunctionArgumentsPlugin.ts';

declare global {
  namespace GraphileBuild {
    interface BuildInput {
      functionTexts: FunctionTexts;
    }
  }
}

declare module 'graphql' {
  interface GraphQLSchemaExtensions {
    errorsOfMutations?: ErrorsOfMutations;
  }
}

/** By the name of the mutation. */
type ErrorsOfMutations = ReadonlyMap<string, readonly RaisedError[]>;

/**
 * Errors that mutations raise, for the documentation: `extensions.errorsOfMutations`.
 * They are read from the functions themselves, so that a new mutation is there at once.
 */
export const RaisedErrorsPlugin: GraphileConfig.Plugin = {
  name: 'RaisedErrorsPlugin',

  gather: {
    async main(output, { helpers }) {
      const results = await helpers.pgIntrospection.getIntrospection();
      const functions = results.flatMap(({ introspection }) => introspection.procs);
      const named = Map.groupBy(functions, (it) => `${it.getNamespace()?.nspname}.${it.proname}`);
      output.functionTexts = new Map(
        Array.from(named, ([name, overloads]) => [name, overloads.map(({ prosrc }) => prosrc).join('\n')]),
      );
    },
  },

  schema: {
    hooks: {
      GraphQLSchema: (schema, build) => ({
        ...schema,
        extensions: Object.assign({}, schema.extensions, { errorsOfMutations: errorsOfMutations(build) }),
      }),
    },
  },
};

function errorsOfMutations({ input, inflection }: GraphileBuild.Build): ErrorsOfMutations {
  const resources = Object.values(input.pgRegistry.pgResources) as FunctionResource[];
  const mutations = resources.filter(({ isMutation }) => isMutation);
  return new Map(
    mutations.map((resource) => {
      const { schemaName, name } = resource.extensions?.pg ?? {};
      return [inflection.customMutationField({ resource }), raisedErrors(`${schemaName}.${name}`, input.functionTexts)];
    }),
  );
}

/** An error that a function raises by a message of its own. */
type RaisedError = {
  /** PostgreSQL's name of the condition, such as `no_data_found`. */
  readonly condition: string;
  readonly message: string;
  /** The arguments that it may be about; none when it names no argument. */
  readonly arguments: readonly string[];
};

/** The text of a function, by its schema and name, as in `app_hidden.find_unit`. Overloads are one text. */
export type FunctionTexts = ReadonlyMap<string, string>;

/**
 * Call graph analysis: the errors that a function raises, and those that the functions raise that it calls.
 * It reads PL/pgSQL's `raise condition using message = '…', column = '…'`. It reads the text of `message = format('…', …)`, too, with … for
 * each value. A message that an expression of another form makes is left out, and so is the error of a constraint, which has a comment of its own.
 */
export function raisedErrors(name: string, texts: FunctionTexts): RaisedError[] {
  const reached = new Set([name]);
  // A set is walked through in the order in which it grows.
  for (const caller of reached) for (const callee of calledIn(texts.get(caller) ?? '', texts)) reached.add(callee);
  const raised = [...reached].flatMap((reachedName) => raisedIn(texts.get(reachedName) ?? ''));
  return [...new Map(raised.map((error) => [JSON.stringify(error), error])).values()];
}

const calledIn = (text: string, texts: FunctionTexts): string[] =>
  Array.from(withoutComments(text).matchAll(/(\w+\.\w+)\s*\(/g), ([, name = '']) => name).filter((name) =>
    texts.has(name),
  );

const raisedIn = (text: string): RaisedError[] =>
  Array.from(withoutComments(text).matchAll(raise), ([, condition = '', options = '']) => {
    const [, isFormat, literal] = /\bmessage\s*=\s*(format\s*\(\s*)?'((?:[^']|'')*)'/i.exec(options) ?? [];
    const text = literal?.replaceAll("''", "'");
    const message = isFormat ? text?.replace(placeholder, (found) => (found === '%%' ? '%' : '…')) : text;
    const [, column = ''] = /\bcolumn\s*=\s*([\s\S]+)$/i.exec(options) ?? [];
    const named = Array.from(column.matchAll(/'(\w+)'/g), ([, argument = '']) => argument);
    return message === undefined ? [] : [{ condition, message, arguments: named.toSorted() }];
  }).flat();

/** Texts in quotes may have a semicolon. */
const raise = /\braise\s+(\w+)\s+using\b((?:'(?:[^']|'')*'|[^';])*);/gi;

/** A place where `format` puts a value: https://www.postgresql.org/docs/current/functions-string.html#FUNCTIONS-STRING-FORMAT */
const placeholder = /%(?:%|(?:\d+\$)?-?(?:\d+|\*(?:\d+\$)?)?[sIL])/g;

const withoutComments = (text: string) => text.replace(/('(?:[^']|'')*')|--[^\n]*/g, (_, quoted) => quoted ?? '');
