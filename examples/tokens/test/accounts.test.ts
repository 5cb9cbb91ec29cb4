import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { contractTests } from 'spec-first/contract-tests';
import { testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import type { operations } from '../generated/openapi.ts';
import { handlers } from '../src/handlers.ts';

const document = 'openapi.yaml';

// An issuer that signs tokens and publishes its key.
const { publicKey, privateKey } = await generateKeyPair('ES256');
const keys = [{ ...(await exportJWK(publicKey)), kid: 'key', alg: 'ES256', use: 'sig' }];
const server = createServer(
  (_request, response) => void response.end(JSON.stringify({ keys })),
).listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const tokenFor = (subject: string | undefined, scope: string) =>
  new SignJWT({ scope, sub: subject })
    .setProtectedHeader({ alg: 'ES256', kid: 'key', typ: 'JWT' })
    .setIssuer(issuer)
    .setAudience('accounts')
    .setExpirationTime('5m')
    .sign(privateKey);

const jwt = { jwksUrl: new URL('jwks.json', issuer), issuer, audience: 'accounts' };
const app = await createApp({ document, handlers, security: { jwt } });
const clientWith = async (token: string) =>
  testClient<operations>(app, { document, headers: { Authorization: `Bearer ${token}` } });

const credentials = await tokenFor('tester', 'account:read account:write');
await contractTests({ document, app, credentials, test });

test('each caller has a separate account', async () => {
  const ann = await clientWith(await tokenFor('ann', 'account:read account:write'));
  const bob = await clientWith(await tokenFor('bob', 'account:read'));
  equal((await ann.renameAccount({ body: { name: 'Ann' } })).status, 204);
  deepEqual(
    [(await ann.readAccount()).body, (await bob.readAccount()).body],
    [{ name: 'Ann' }, { name: 'nameless' }],
  );
});

test('a token without the scope of the operation gets 403, and no token 401', async () => {
  const bob = await clientWith(await tokenFor('bob', 'account:read'));
  equal((await bob.renameAccount({ body: { name: 'Bob' } })).status as number, 403);
  equal((await (await clientWith('')).readAccount()).status as number, 401);
});

test('a token without a subject has no account', async () => {
  const nobody = await clientWith(await tokenFor(undefined, 'account:read account:write'));
  equal((await nobody.renameAccount({ body: { name: 'All' } })).status as number, 403);
  equal((await nobody.readAccount()).status as number, 403);
});
