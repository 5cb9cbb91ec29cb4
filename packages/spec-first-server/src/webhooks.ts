import { createHmac, randomUUID } from 'node:crypto';
import { type Document, loadDocument, type Operation, stringifyJson } from 'openapi-document';
import { type AnyInput, type Client, clientOf, routesOf } from 'openapi-document/client';
import { createPathValidators, Violations } from './validation/validator.ts';

/** The functions that send webhooks, by name. Of a webhook with several methods, the first one counts. */
export type WebhookClient<Webhooks> = Client<{ [Name in keyof Webhooks]: Webhooks[Name][keyof Webhooks[Name]] }>;

export interface ReceiverOptions {
  /** The secret that is shared with the receiver, as Standard Webhooks writes it: `whsec_` and the key in Base64. */
  readonly secret?: string;
  /** Headers of each request, such as `Authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The id of a signed message. One that is sent again keeps it, so that the receiver can tell. By default a new one. */
  readonly id?: string;
}

/**
 * Sends the webhooks of a document, and the callbacks of its operations, which are named `operationId.name`. What does not fit
 * the document is not sent. A webhook that declares the header `webhook-signature` is signed (Standard Webhooks 1.0.0).
 *
 * @example
 * const receiverAt = await createWebhooks<webhooks>({ document: 'openapi.yaml' });
 * const { status } = await receiverAt(url, { secret }).plantAdded({ body: plant }, { signal: AbortSignal.timeout(10_000) });
 *
 * @throws {TypeError} when a value does not fit the document, or a secret is missing.
 */
export async function createWebhooks<Webhooks>({ document }: { readonly document: Document | string }) {
  const { root, webhooks } = typeof document === 'string' ? await loadDocument(document) : document;
  const hooks = new Map<string, Operation>();
  for (const { requestBody, parameters, ...hook } of webhooks) {
    // What is sent goes out as replies do: validated as one.
    const headers = parameters.filter(({ name }) => !SIGNATURE.test(name));
    const { pointer, source } = hook;
    const response = { key: 'default', media: requestBody?.media ?? [], headers, pointer, source };
    if (!hooks.has(hook.path)) hooks.set(hook.path, { ...hook, parameters, requestBody, responses: [response] });
  }
  const reading = { readOnly: 'reject', discriminator: 'selects' } as const;
  const validators = createPathValidators(root, [...hooks.values()], reading);
  const routes = routesOf<keyof Webhooks>([...hooks.values()].map((hook) => ({ ...hook, id: hook.path, path: '' })));

  /** @throws {TypeError} */
  function check(name: string, { query, header, contentType, body }: AnyInput): void {
    const hook = hooks.get(name);
    const validator = hook && validators.get(hook);
    const [response] = hook?.responses ?? [];
    if (validator === undefined || response === undefined) return;
    const media = response.media.find(({ type }) => type === contentType) ?? response.media[0];
    try {
      validator.responseHeaders(response, { ...query, ...header });
      if (media !== undefined && (body !== undefined || hook?.requestBody?.required)) validator.response(media, body);
    } catch (error) {
      if (!(error instanceof Violations)) throw error;
      throw new TypeError(`${name} is not sent: ${error.message}`);
    }
  }

  return (url: string, { secret, headers, id }: ReceiverOptions = {}): WebhookClient<Webhooks> =>
    clientOf<{ [Name in keyof Webhooks]: Webhooks[Name][keyof Webhooks[Name]] }>(routes, {
      baseUrl: url,
      async headers(name, input) {
        check(name, input);
        const isSigned = hooks.get(name)?.parameters.some((parameter) => SIGNATURE.test(parameter.name));
        if (isSigned && secret === undefined) throw new TypeError(`${name} is signed: give the secret of the receiver`);
        const text = stringifyJson(input.body) ?? '';
        return { ...headers, ...(isSigned && signatureOf(text, secret ?? '', id ?? `msg_${randomUUID()}`)) };
      },
    });
}

const SIGNATURE = /^webhook-(id|timestamp|signature)$/i;

function signatureOf(body: string, secret: string, id: string) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
