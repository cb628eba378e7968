/** What a token gives access to; each sees other example queries. */
export type TokenKind = 'app' | 'user' | 'basic' | 'none';

export type Example = { readonly label: string; readonly query: string; readonly variables?: Record<string, unknown> };

/** One click puts one into GraphiQL's editor; the first, without variables, is there at the start. */
export const examples: Record<TokenKind, readonly Example[]> = {
  app: [
    {
      label: 'Users',
      query: `# All users of the organization, a page at a time.
query Users {
  app {
    name
    users(first: 5, orderBy: FULL_NAME_ASC) {
      totalCount
      nodes {
        id
        fullName
        email
        locale
        timeZone
        externalIdentifier
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}
`,
    },
    {
      label: 'Units',
      query: `# The top of the tree of units, and two levels below it.
query Units {
  app {
    rootUnits(first: 10, orderBy: NAME_ASC) {
      nodes {
        name
        children {
          totalCount
          nodes {
            name
            parent {
              name
            }
            children {
              nodes {
                name
                externalIdentifier
              }
            }
          }
        }
      }
    }
  }
}
`,
    },
    {
      label: 'Cards',
      query: `# The cards of each user; there are three types.
query Cards {
  app {
    users(first: 10) {
      nodes {
        fullName
        cardAssignments {
          id
          card {
            __typename
            name
            ... on BeaconCard {
              proximityUuid
              major
              minor
            }
            ... on NfcCard {
              nfcIdentifier
            }
          }
        }
      }
    }
  }
}
`,
    },
    {
      label: 'Create a user',
      query: `# Its external identifier lets the next two examples find it again.
mutation CreateUser($fullName: String!, $email: String!, $externalIdentifier: String) {
  userCreate(
    fullName: $fullName
    email: $email
    locale: "en"
    timeZone: "London"
    externalIdentifier: $externalIdentifier
  ) {
    user {
      id
      fullName
      email
      timeZone
      externalIdentifier
    }
  }
}
`,
      variables: { fullName: 'Mary Somerville', email: 'mary@example.test', externalIdentifier: 'example-mary' },
    },
    {
      label: 'Update it',
      query: `# What is left out stays as it is.
mutation UpdateUser($externalIdentifier: String!, $fullName: String) {
  userUpdate(externalIdentifier: $externalIdentifier, fullName: $fullName) {
    user {
      id
      fullName
      email
    }
  }
}
`,
      variables: { externalIdentifier: 'example-mary', fullName: 'Mary Fairfax Somerville' },
    },
    {
      label: 'Delete it',
      query: `# Returns the user as it was.
mutation DeleteUser($externalIdentifier: String!) {
  userDelete(externalIdentifier: $externalIdentifier) {
    user {
      id
      fullName
    }
  }
}
`,
      variables: { externalIdentifier: 'example-mary' },
    },
  ],
  user: [
    {
      label: 'Me',
      query: `# The person that the token was issued for.
query Me {
  viewer {
    id
    fullName
    email
    locale
    timeZone
    externalIdentifier
  }
}
`,
    },
    {
      label: 'My units',
      query: `# Every unit granted to me, and all below them.
query MyUnits($first: Int!) {
  viewer {
    accessibleUnits(first: $first) {
      totalCount
      nodes {
        id
        name
        parent {
          name
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}
`,
      variables: { first: 20 },
    },
    {
      label: 'My units as a tree',
      query: `# The same units, each with what is below it.
query MyUnitTree {
  viewer {
    accessibleUnits(first: 5) {
      nodes {
        name
        children {
          nodes {
            name
            children {
              totalCount
            }
          }
        }
      }
    }
  }
}
`,
    },
    {
      label: 'My cards',
      query: `# My cards; there are three types.
query MyCards {
  viewer {
    fullName
    cardAssignments {
      card {
        __typename
        name
        ... on BeaconCard {
          proximityUuid
          major
          minor
        }
        ... on NfcCard {
          nfcIdentifier
        }
      }
    }
  }
}
`,
    },
  ],
  basic: [
    {
      label: 'What the schema offers',
      query: `# A token of scope basic authenticates, but reads no row.
query Fields {
  __schema {
    queryType {
      fields {
        name
        description
      }
    }
  }
}
`,
    },
  ],
  none: [
    {
      label: 'What the schema offers',
      query: `# Sign in to read data; this reads the schema.
query Fields {
  __schema {
    queryType {
      fields {
        name
        description
      }
    }
  }
}
`,
    },
  ],
};
