import type {} from 'postgraphile';

declare global {
  namespace GraphileConfig {
    interface Plugins {
      VariableNamesPlugin: true;
    }
  }
}

/**
 * A variable may have any name. Grafast looks the values up in a plain object, where a variable that is not given but called
 * `constructor` or `__proto__` would get what every object inherits under that name.
 */
export const VariableNamesPlugin: GraphileConfig.Plugin = {
  name: 'VariableNamesPlugin',
  description: 'Keeps what JavaScript objects inherit out of the values of variables',
  version: '1.0.0',

  grafast: {
    middleware: {
      establishOperationPlan(next, { variableValues }) {
        Object.setPrototypeOf(variableValues, null);
        return next();
      },
    },
  },
};
