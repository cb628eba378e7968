import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'postgraphile/graphql';

/** A request with one large value where another type belongs, or with unknown members by the thousand. */
export type WrongRequest = {
  /** The endpoint, the place and the value. */
  readonly name: string;
  readonly path: string;
  /** Without a token. */
  readonly headers: Readonly<Record<string, string>>;
  /** Written when it is sent, since all of them together are gigabytes. */
  readonly body: () => string;
};

const maxBytes = 990_000;
const repeated = (text: string, bytes: number) => `[${`${text},`.repeat(bytes / (text.length + 1)).slice(0, -1)}]`;
const numbered = (bytes: number, write: (index: number) => string) =>
  Array.from({ length: Math.floor(bytes / (write(100_000).length + 1)) }, (_, index) => write(index)).join();
const nested = (bytes: number, open: string, close: string) => {
  const levels = Math.floor(bytes / (open.length + close.length + 1));
  return `${open.repeat(levels)}1${close.repeat(levels)}`;
};

/** JSON of about so many bytes. */
const largeValues: Readonly<Record<string, (bytes: number) => string>> = {
  'a long text': (bytes) => `"${'x'.repeat(bytes - 2)}"`,
  'a long escaped text': (bytes) => `"${'\\u0001'.repeat(bytes / 6 - 1)}"`,
  'a long number': (bytes) => '9'.repeat(bytes),
  'unknown members': (bytes) => `{${numbered(bytes, (index) => `"member${index}":1`)}}`,
  'a member with a long name': (bytes) => `{"${'x'.repeat(bytes - 6)}":1}`,
  'objects with unknown members': (bytes) => `[${numbered(bytes, (index) => `{"member${index}":{}}`)}]`,
  'empty objects': (bytes) => repeated('{}', bytes),
  numbers: (bytes) => repeated('1', bytes),
  'numbers that are rounded': (bytes) => repeated('0.12345678901234567', bytes),
  booleans: (bytes) => repeated('true', bytes),
  nulls: (bytes) => repeated('null', bytes),
  texts: (bytes) => `[${numbered(bytes, (index) => `"text ${index}"`)}]`,
  'lists in lists': (bytes) => nested(bytes, '[', ']'),
  'objects in objects': (bytes) => nested(bytes, '{"a":', '}'),
};

/** Sizes above and below the bounds: of a small one all is read. */
const sizes = [maxBytes, 100_000];

const kindsOfValues = sizes.flatMap((bytes) =>
  Object.entries(largeValues).map(([name, write]) => ({
    name: `${name} of ${bytes} bytes`,
    write: (used: number) => write(bytes - used),
  })),
);

/** Replaces the only `"HERE"` in a text. */
function withValues(place: string, request: Omit<WrongRequest, 'name' | 'body'>, frame: string): WrongRequest[] {
  return kindsOfValues.map(({ name, write }) => ({
    ...request,
    name: `${request.path} ${place}: ${name}`,
    body: () => frame.replace('"HERE"', () => write(frame.length)),
  }));
}

const json = { 'Content-Type': 'application/json' };

/** All of them: each place of each endpoint with each of the values. */
export function wrongRequests(schema: GraphQLSchema): readonly WrongRequest[] {
  return [
    ...ofVariables(schema),
    ...ofLiterals(schema),
    ...ofParameters(),
    ...ofAuthzen(),
    ...ofOauth(),
    ...ofHeaders(),
  ];
}

/** An argument of a field that a document can reach, or a field of an argument's input object. */
type Place = {
  readonly name: string;
  readonly type: GraphQLInputType;
  /** The document with the value there, at one place or at many. */
  readonly documents: readonly ((value: string) => string)[];
};

function placesOf(schema: GraphQLSchema): Place[] {
  const [query, mutation, subscription] = [
    schema.getQueryType(),
    schema.getMutationType(),
    schema.getSubscriptionType(),
  ];
  const app = query?.getFields().app;
  const appType = app && getNamedType(app.type);
  const placesIn = (
    fields: readonly GraphQLField<unknown, unknown>[],
    write: (field: string) => string,
    ...counts: readonly number[]
  ) =>
    fields.flatMap((field) =>
      field.args.map(({ name, type }): Place => {
        const selection = isCompositeType(getNamedType(field.type)) ? ' { __typename }' : '';
        const fieldWith = (value: string) => `${field.name}(${name}: ${value})${selection}`;
        const aliased = (value: string, count: number) =>
          Array.from({ length: count }, (_, index) => `a${index}: ${fieldWith(value)}`).join(' ');
        return {
          name: `${field.name}(${name})`,
          type,
          documents: [1, ...counts].map((count) => (value) => write(aliased(value, count))),
        };
      }),
    );
  return [
    ...placesIn(Object.values(query?.getFields() ?? {}), (field) => `{ ${field} }`, 20),
    ...placesIn(isObjectType(appType) ? Object.values(appType.getFields()) : [], (field) => `{ app { ${field} } }`, 45),
    ...placesIn(Object.values(mutation?.getFields() ?? {}), (field) => `mutation { ${field} }`, 20),
    ...placesIn(Object.values(subscription?.getFields() ?? {}), (field) => `subscription { ${field} }`),
  ];
}

const operationOf = (document: string, variable: string) =>
  /^\w/.test(document) ? document.replace(' ', `(${variable}) `) : `query(${variable}) ${document}`;

/** JSON of a value in which each field of input objects has its turn. */
function framesOf(type: GraphQLInputType): { readonly name: string; readonly frame: string }[] {
  const nullable = isNonNullType(type) ? type.ofType : type;
  if (isListType(nullable))
    return [
      { name: '', frame: '"HERE"' },
      ...framesOf(nullable.ofType).map(({ name, frame }) => ({ name: `[0]${name}`, frame: `[${frame}]` })),
    ];
  if (!isInputObjectType(nullable)) return [{ name: '', frame: '"HERE"' }];
  return [
    { name: '', frame: '"HERE"' },
    ...Object.values(nullable.getFields()).flatMap((field) =>
      framesOf(field.type).map(({ name, frame }) => ({
        name: `.${field.name}${name}`,
        frame: `{"${field.name}":${frame}}`,
      })),
    ),
  ];
}

function ofVariables(schema: GraphQLSchema): WrongRequest[] {
  return placesOf(schema).flatMap(({ name, type, documents }) =>
    documents.flatMap((document) => {
      const query = JSON.stringify(operationOf(document('$v'), `$v: ${type}`));
      const place = `${name} $v`;
      return framesOf(type).flatMap(({ name: inner, frame }) =>
        withValues(
          `${place}${inner}${document === documents[0] ? '' : ' at many places'}`,
          { path: '/graphql', headers: json },
          `{"query":${query},"variables":{"v":${frame}}}`,
        ),
      );
    }),
  );
}

/** The values as literals: names in objects have no quotes. */
function ofLiterals(schema: GraphQLSchema): WrongRequest[] {
  return placesOf(schema).flatMap(({ name, documents: [document] }) =>
    Object.entries(largeValues).map(([kind, write]) => ({
      name: `/graphql ${name} in the document: ${kind}`,
      path: '/graphql',
      headers: json,
      body: () => JSON.stringify({ query: document?.(write(95_000).replace(/"(\w+)":/g, '$1:')) }),
    })),
  );
}

function ofParameters(): WrongRequest[] {
  const members = ['query', 'operationName', 'documentId', 'doc_id', 'variables', 'extensions', 'another'];
  const nestedFrames = [
    '{"query":"{ __typename }","extensions":{"persistedQuery":"HERE"}}',
    '{"query":"{ __typename }","extensions":{"persistedQuery":{"version":1,"sha256Hash":"HERE"}}}',
    '{"query":"{ __typename }","variables":{"undeclared":"HERE"}}',
    '"HERE"',
  ];
  const frames = [...members.map((name) => `{"query":"{ __typename }","${name}":"HERE"}`), ...nestedFrames];
  return frames.flatMap((frame) => withValues(frame, { path: '/graphql', headers: json }, frame));
}

function ofAuthzen(): WrongRequest[] {
  const parts = {
    subject: '{"type":"user","id":"u"}',
    action: '{"name":"enter"}',
    resource: '{"type":"unit","id":"u"}',
  };
  const whole = (replaced: Readonly<Record<string, string>>) =>
    `{${Object.entries({ ...parts, ...replaced }).map(([name, part]) => `"${name}":${part}`)}}`;
  const frames = [
    ...['subject', 'action', 'resource', 'context', 'another'].map((name) => whole({ [name]: '"HERE"' })),
    ...['type', 'id', 'properties'].map((name) => whole({ subject: `{"type":"user","id":"u","${name}":"HERE"}` })),
    ...['name', 'properties'].map((name) => whole({ action: `{"name":"enter","${name}":"HERE"}` })),
    whole({ context: '{"time":"HERE"}' }),
    whole({ options: '"HERE"' }),
    whole({ options: '{"evaluations_semantic":"HERE"}' }),
    whole({ evaluations: '"HERE"' }),
    whole({ evaluations: '[{"context":"HERE"}]' }),
  ];
  return ['/access/v1/evaluation', '/access/v1/evaluations'].flatMap((path) =>
    frames.flatMap((frame) => withValues(frame, { path, headers: json }, frame)),
  );
}

const maxFormBytes = 57_000;
const formValues: Readonly<Record<string, (name: string) => string>> = {
  'a long value': (name) => `${name}=${'x'.repeat(maxFormBytes - name.length - 1)}`,
  'a long escaped value': (name) => `${name}=${'%C3%A4'.repeat((maxFormBytes - name.length - 1) / 6)}`,
  'unknown parameters': (name) =>
    `${name}=1&${numbered(maxFormBytes - 100, (index) => `p${index}=1`).replaceAll(',', '&')}`,
  'many times': (name) => `${name}=1&`.repeat(maxFormBytes / (name.length + 3)),
  'in brackets': (name) => `${name}[a]=1&`.repeat(maxFormBytes / (name.length + 6)),
  separators: (name) => `${name}=1${'&'.repeat(maxFormBytes - name.length - 2)}`,
};

function ofOauth(): WrongRequest[] {
  const names = {
    '/oauth/token': [
      'grant_type',
      'scope',
      'client_id',
      'client_secret',
      'username',
      'password',
      'refresh_token',
      'code',
      'code_verifier',
      'redirect_uri',
      'external_authentication_token',
    ],
    '/oauth/revoke': ['token', 'token_type_hint', 'client_id'],
    '/oauth/introspect': ['token', 'token_type_hint', 'client_id'],
    '/oauth/authorize': ['client_id', 'redirect_uri', 'state', 'code_challenge', 'scope', 'username', 'csrf_token'],
  };
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return Object.entries(names).flatMap(([path, parameters]) =>
    parameters.flatMap((name) =>
      Object.entries(formValues).map(([kind, write]) => ({
        name: `${path} ${name}: ${kind}`,
        path,
        headers,
        body: () => write(name),
      })),
    ),
  );
}

/** Node.js reads 16 KiB of headers. */
const maxHeader = 15_000;

function ofHeaders(): WrongRequest[] {
  const names = [
    'Accept',
    'Accept-Encoding',
    'Authorization',
    'Content-Type',
    'Idempotency-Key',
    'X-Request-Id',
    'Origin',
    'Cookie',
    'Forwarded',
    'X-Forwarded-For',
    'traceparent',
    'Last-Event-ID',
  ];
  const values = {
    'a long word': 'x'.repeat(maxHeader),
    'a long list': 'a/b,'.repeat(maxHeader / 4),
    parameters: `a/b${';c=d'.repeat(maxHeader / 4)}`,
  };
  return ['/graphql', '/access/v1/evaluation', '/oauth/token'].flatMap((path) =>
    names.flatMap((header) =>
      Object.entries(values).map(([kind, value]) => ({
        name: `${path} ${header}: ${kind}`,
        path,
        headers: { ...json, [header]: value },
        body: () => '{"query":"mutation { __typename }"}',
      })),
    ),
  );
}
