/**
 * Against prototype pollution: a variable may have any name, `constructor` or `__proto__` too.
 * Grafast looks the values up in a plain object, where such a variable, if it is not given, would get the inherited value.
 */
export const VariableNamesPlugin: GraphileConfig.Plugin = {
  name: 'VariableNamesPlugin',

  grafast: {
    middleware: {
      establishOperationPlan(next, { variableValues }) {
        Object.setPrototypeOf(variableValues, null);
        return next();
      },
    },
  },
};
