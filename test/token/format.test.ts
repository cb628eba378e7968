import { createToken, hashToken, isToken } from '../../src/token/accessTokens.ts';

test('a token is 256 random bits with a prefix that says what it is for', () => {
  expect(createToken('access')).toMatch(/^gqs_at_[\w-]{49}$/);
  expect(createToken('refresh')).toMatch(/^gqs_rt_[\w-]{49}$/);
  expect(new Set(Array.from({ length: 1000 }, () => createToken('access'))).size).toBe(1000);
});

test('a token is recognised, and only as what it is for', () => {
  const token = createToken('access');

  expect(isToken('access', token)).toBe(true);
  expect(isToken('refresh', token)).toBe(false);
});

test('a token with one character changed, added or lost is refused', () => {
  const token = createToken('access');
  const changed = Array.from(token, (character, at) => {
    return token.slice(0, at) + (character === 'x' ? 'y' : 'x') + token.slice(at + 1);
  });

  for (const text of [...changed, `${token}x`, token.slice(0, -1), token.slice(1), '', 'gqs_at_']) {
    expect(isToken('access', text)).toBe(false);
  }
});

test('the hash is SHA-256, so that others can compute it', () => {
  expect(hashToken('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
