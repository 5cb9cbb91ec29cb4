/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

declare global {
  interface JSON {
    /** Returns a value that `JSON.stringify` writes as this text (ECMA-262 §25.5.3). */
    rawJSON(text: string): unknown;
  }
}

const writeBigint = (_key: string, value: unknown) => (typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value);

const readBigint = (_key: string, value: unknown, context?: { source?: string }) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
    ? BigInt(context?.source ?? '')
    : value;

/** Options of openapi-fetch that send and read every integer exactly: beyond ±(2^53−1) it is a `bigint`. */
export const exactIntegers = {
  bodySerializer(body: unknown, headers?: ConstructorParameters<typeof Headers>[0]) {
    if (body instanceof FormData) return body;
    const form = new Headers(headers).get('Content-Type') === 'application/x-www-form-urlencoded';
    return form ? new URLSearchParams(Object(body)).toString() : JSON.stringify(body, writeBigint);
  },
  async fetch(request: Request) {
    const response = await fetch(request);
    if (!/\bjson\b/.test(response.headers.get('Content-Type') ?? '')) return response;
    const text = await response.text();
    const read = new Response(text || null, response);
    // openapi-fetch calls json() only for a response with a length.
    read.headers.set('Content-Length', String(text.length));
    return Object.assign(read, { json: async () => JSON.parse(text, readBigint) });
  },
};
