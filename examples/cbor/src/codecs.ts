import { decode, encode } from 'cborg';
import { type Codec, UnreadableBody } from 'openapi-document/client';

declare module 'openapi-document/client' {
  interface ValueTypes {
    readonly cbor: 'application/cbor';
  }
}

/** CBOR (RFC 8949). Integers beyond ±(2^53−1) are bigints, as in JSON bodies. */
const cbor: Codec = {
  match: (type) => type === 'application/cbor',
  unit: 'value',
  read(bytes) {
    try {
      return decode(bytes);
    } catch {
      throw new UnreadableBody('must be CBOR');
    }
  },
  write: (value) => encode(value),
};

/** For the server and for the client. `npm run generate` reads them, too. */
export const codecs = [cbor];
