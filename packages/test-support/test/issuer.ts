import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { setImmediate as immediate } from 'node:timers/promises';
import {
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { freePort } from './free-port.ts';

export interface SigningKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
  readonly jwk: JWK;
}

/** An issuer of signed tokens that serves its public keys on 127.0.0.1. */
export interface Issuer {
  readonly name: string;
  readonly audience: string;
  readonly jwksUrl: URL;
  /** The published keys; the last one signs. */
  keys: readonly SigningKey[];
  /** Sends the response instead of the keys, if set. */
  answer: ((response: ServerResponse) => void) | undefined;
  /** The number of requests for keys. */
  readonly fetches: number;
  /**
   * Signs a token that is valid for five minutes. Claims and header replace the defaults;
   * an undefined claim is left out.
   */
  sign(
    claims?: JWTPayload,
    header?: Partial<JWTHeaderParameters>,
    key?: SigningKey,
  ): Promise<string>;
  /** Replaces the published keys by a new one. */
  rotate(): Promise<void>;
  /** Closes the server and its connections. */
  down(): Promise<void>;
  /** Listens again at the same port. */
  up(): Promise<void>;
}

let count = 0;

export async function signingKey(alg = 'ES256', kid = `key-${++count}`): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** Starts an issuer with one key, by default a new one. */
export async function startIssuer(key?: SigningKey): Promise<Issuer> {
  let fetches = 0;
  const server = createServer((_request, response) => {
    fetches += 1;
    if (issuer.answer) return issuer.answer(response);
    response.setHeader('content-type', 'application/jwk-set+json');
    response.end(JSON.stringify({ keys: issuer.keys.map(({ jwk }) => jwk) }));
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const name = `http://127.0.0.1:${port}/`;
  const audience = 'plants';

  const issuer: Issuer = {
    name,
    audience,
    jwksUrl: new URL('/jwks.json', name),
    keys: [key ?? (await signingKey())],
    answer: undefined,
    get fetches() {
      return fetches;
    },
    sign(claims, header, key = issuer.keys.at(-1)) {
      if (key === undefined) throw new Error('no key to sign with');
      const now = Math.floor(Date.now() / 1000);
      const payload = {
        iss: name,
        aud: audience,
        sub: 'alice',
        iat: now,
        exp: now + 300,
        ...claims,
      };
      return new SignJWT(payload)
        .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header })
        .sign(key.privateKey);
    },
    async rotate() {
      issuer.keys = [await signingKey()];
    },
    async down() {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      // Clients in this process notice the closed connections in later turns of the event loop.
      for (let turn = 0; turn < 10; turn += 1) await immediate();
    },
    async up() {
      if (server.listening) return;
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
  return issuer;
}
