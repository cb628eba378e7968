import type { Page } from './page.ts';

/**
 * The pages beside the API, in the order of the bar.
 * Each imports its own code, since the supervisor needs only the addresses.
 */
export const pages: readonly Page[] = [
  {
    path: '/graphiql',
    title: 'GraphiQL',
    description: 'Write queries with completion, sign in, and run them',
    create: async (context) => (await import('./graphiql.ts')).createGraphiql(context),
  },
  {
    path: '/playground',
    title: 'Playground',
    description: 'Send requests with headers of your own',
    create: async (context) => (await import('./playground.ts')).createPlayground(context),
  },
  {
    path: '/documentations/graphql',
    title: 'Documentation',
    description: 'The types as a graph, a page for each, tokens, errors, limits',
    create: async (context) => (await import('./documentation/createDocumentation.ts')).createDocumentation(context),
  },
];
