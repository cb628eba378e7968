import { graphql } from 'relay-runtime';

// A page of a Relay application: all units of a person, each with its children, and both lists go on.

graphql`
  query unitsQuery {
    viewer {
      fullName
      ...units_viewer
    }
  }
`;

// Only compiled: in Relay's store the changes of one object would be one record, since each has the object's id.

graphql`
  query unitsChangesQuery($after: Cursor) {
    app {
      changes(first: 10, after: $after) @connection(key: "units_changes") {
        edges {
          cursor
          node {
            operation
            id
            node {
              __typename
              ... on Unit {
                name
              }
            }
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`;

graphql`
  fragment units_viewer on User
  @refetchable(queryName: "unitsPageQuery")
  @argumentDefinitions(first: { type: "Int", defaultValue: 2 }, after: { type: "Cursor" }) {
    accessibleUnits(first: $first, after: $after, orderBy: [NAME_ASC]) @connection(key: "units_accessibleUnits") {
      edges {
        node {
          id
          name
        }
      }
    }
  }
`;

graphql`
  fragment units_unit on Unit
  @refetchable(queryName: "unitsUnitQuery")
  @argumentDefinitions(first: { type: "Int", defaultValue: 2 }, after: { type: "Cursor" }) {
    name
    children(first: $first, after: $after, orderBy: [NAME_ASC]) @connection(key: "units_children") {
      edges {
        node {
          name
        }
      }
    }
  }
`;
