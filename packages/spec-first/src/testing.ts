import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { type DocumentSource, loadDocument } from 'openapi-document';
import { type Client, type ClientOptions, clientOf, routesOf } from 'openapi-document/client';
import { listen } from './contract-tests/send.ts';

export { type TestService, type TestServiceOptions, testService } from './test-service.ts';

type RequestIn<Handler> = Handler extends (request: infer R) => unknown ? R : never;

/**
 * Makes requests for unit tests of handlers. Parts that are not passed are empty.
 *
 * @example
 * const requestTo = requestsFor<Handlers>();
 * const reply = await handlers.listRooms(requestTo('listRooms', { query: { limit: 2 } }));
 */
export const requestsFor =
  <Handlers extends { readonly [Id in keyof Handlers]: (request: never) => unknown }>() =>
  <Id extends keyof Handlers & string>(
    operationId: Id,
    parts: Partial<RequestIn<Handlers[Id]>> = {},
  ) => {
    const silent = () => {};
    const log = { info: silent, warn: silent, error: silent, debug: silent };
    const headers: IncomingHttpHeaders = {};
    const request = {
      operationId,
      ...{ path: {}, query: {}, header: {}, cookie: {}, body: undefined, caller: undefined },
      contentType: 'body' in parts ? 'application/json' : undefined,
      headers,
      id: 'test',
      log,
      signal: new AbortController().signal,
      accepts: (...types: readonly string[]) => types[0],
      ...parts,
    };
    return request as unknown as RequestIn<Handlers[Id]>;
  };

/** The options of `testClient`. */
export interface TestClientOptions extends Pick<ClientOptions, 'codecs' | 'headers'> {
  /** The document of the app. By default `openapi.yaml`. */
  readonly document?: DocumentSource;
}

/**
 * Makes a client that calls the operations of an app by name, over HTTP on a free port. The app
 * does not keep the process alive.
 *
 * @example
 * const api = await testClient<operations>(app, { headers: { Authorization: 'Bearer token' } });
 * const { status, body } = await api.getRoom({ path: { roomId: 1 } });
 */
export async function testClient<Operations>(
  app: RequestListener | Promise<RequestListener>,
  { document = 'openapi.yaml', headers = {}, codecs = [] }: TestClientOptions = {},
): Promise<Client<Operations>> {
  const { basePaths, operations } = await loadDocument(document);
  const origin = await listen(await app);
  return clientOf<Operations>(routesOf<keyof Operations>(operations), {
    baseUrl: origin + basePaths[0],
    headers,
    codecs,
  });
}
