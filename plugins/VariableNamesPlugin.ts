/**
 * Against prototype pollution: a variable may have any name, even `constructor` or `__proto__`.
 * Grafast looks the values up in a plain object. There, such a variable without a value would get the inherited one.
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
