import type { Step } from './steps.ts';

/** Sequences in which the service and the model once disagreed, as the search prints them; each run begins with them. */
export const found: readonly (readonly Step[])[] = [
  // The time of change of a card stayed that of its creation.
  [
    {
      organization: 0,
      caller: 'app',
      service: 0,
      fields: [
        {
          field: 'cardUpdate',
          args: { externalIdentifier: 'c-3', name: 'Konrad 3' },
          selection: 'card { id createdAt updatedAt name }',
        },
      ],
    },
  ],
  // A token that was given again moved the time of change of its user.
  [
    {
      organization: 0,
      caller: 'app',
      service: 0,
      fields: [
        {
          field: 'userUpdate',
          args: { externalIdentifier: 'u-2', externalAuthenticationToken: 'external-token-of-u-2' },
          selection: 'user { id createdAt updatedAt externalAuthenticationToken }',
        },
      ],
    },
  ],
];
