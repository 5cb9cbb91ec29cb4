import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A self-signed certificate and its key, both as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/**
 * Makes a certificate for an IPv4 address (RFC 5280 §4.1). It is valid from yesterday until a year
 * from now.
 */
export function makeCertificate(address: string): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const day = 86_400_000;
  const ecdsaWithSha256 = sequence(oid('06082a8648ce3d040302'));
  // Each certificate is its own authority, with a unique name.
  const name = sequence(
    der(0x31, sequence(oid('0603550403'), der(0x0c, randomBytes(8).toString('hex')))),
  );
  const alternativeName = sequence(der(0x87, Buffer.from(address.split('.').map(Number))));
  const basicConstraints = sequence(Buffer.from('0101ff', 'hex'));
  const body = sequence(
    der(0xa0, Buffer.from('020102', 'hex')),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    name,
    sequence(time(Date.now() - day), time(Date.now() + 365 * day)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        sequence(oid('0603551d11'), der(0x04, alternativeName)),
        sequence(oid('0603551d13'), der(0x04, basicConstraints)),
      ),
    ),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const lines = sequence(body, ecdsaWithSha256, signature)
    .toString('base64')
    .replace(/.{64}/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Encodes one value in DER: its tag, length and content (X.690). */
function der(tag: number, ...parts: (Buffer | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts);
}

/** Returns an object identifier from its DER in hexadecimal. */
function oid(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

/** Encodes a GeneralizedTime. */
function time(at: number): Buffer {
  return der(0x18, `${new Date(at).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`);
}
