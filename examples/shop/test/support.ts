import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const SCOPES = 'customers:read customers:write products:write orders:write reports:read';

/** Starts an issuer of signed tokens, and publishes its key. */
export async function startIssuer() {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'key', alg: 'ES256', use: 'sig' }];
  const server = createServer((_request, response) => {
    response.end(JSON.stringify({ keys }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}/`;

  return {
    variables: {
      JWKS_URL: `${issuer}jwks.json`,
      JWT_ISSUER: issuer,
      JWT_AUDIENCE: 'shop',
    },
    tokenFor: (subject: string, scope = SCOPES) =>
      new SignJWT({ scope })
        .setProtectedHeader({ alg: 'ES256', kid: 'key', typ: 'JWT' })
        .setIssuer(issuer)
        .setAudience('shop')
        .setSubject(subject)
        .setExpirationTime('10m')
        .sign(privateKey),
    stop: () => server.close(),
  };
}
