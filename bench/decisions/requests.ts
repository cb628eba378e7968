import type { Doors } from '../data/buildDoors.ts';

export type Make = () => Buffer;

export function nodeRequest({ userIds }: Doors, token: string): Make {
  return () => nodeOf(token, pick(userIds));
}

export function nodeOf(token: string, id: string): Buffer {
  const query = 'query($id: ID!) { node(id: $id) { id ... on User { fullName externalIdentifier } } }';
  return request(token, { query, variables: { id } });
}

/** Any badge at any door. */
export function decisionRequest({ badges, unitNames }: Doors, token: string): Make {
  const query = `query($unit: String!, $badge: String!) { app {
    accessDecision(unitExternalIdentifier: $unit, credential: { nfcIdentifier: $badge }) { isAllowed reason } } }`;
  return () => request(token, { query, variables: { unit: pick(unitNames), badge: pick(badges) } });
}

type Unit = { readonly unitId?: string; readonly unitExternalIdentifier?: string };

export function decisionOf(token: string, unit: Unit, credential: object): Buffer {
  const query = `query($unitId: ID, $unitExternalIdentifier: String, $credential: CredentialInput!) { app {
    accessDecision(unitId: $unitId, unitExternalIdentifier: $unitExternalIdentifier, credential: $credential) { isAllowed reason } } }`;
  return request(token, { query, variables: { ...unit, credential } });
}

/** Anybody at any door, by AuthZEN. */
export function evaluationRequest({ userNames, unitNames }: Doors, token: string): Make {
  return () => evaluationOf(token, { type: 'user', id: pick(userNames) }, pick(unitNames));
}

export function evaluationOf(token: string, subject: object, unit: string): Buffer {
  const action = { name: 'enter' };
  return request(token, { subject, action, resource: { type: 'unit', id: unit } }, '/access/v1/evaluation');
}

/** As many of them at once. */
export function evaluationsRequest({ userNames, unitNames }: Doors, token: string, count: number): Make {
  const evaluation = () => ({
    subject: { type: 'user', id: pick(userNames) },
    resource: { type: 'unit', id: pick(unitNames) },
  });
  return () => {
    const evaluations = Array.from({ length: count }, evaluation);
    return request(token, { action: { name: 'enter' }, evaluations }, '/access/v1/evaluations');
  };
}

function pick(list: readonly string[]): string {
  return list[Math.floor(Math.random() * list.length)] as string;
}

function request(token: string, body: object, path = '/graphql'): Buffer {
  const text = JSON.stringify(body);
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}
