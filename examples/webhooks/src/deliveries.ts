import { randomUUID } from 'node:crypto';
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { type Document, stringifyJson } from 'openapi-document';
import { Webhook } from 'standardwebhooks';
import type { webhooks } from '../generated/openapi.ts';

/** The body of a webhook, or of a callback such as `createParcel.delivered`. */
type BodyOf<Name extends keyof webhooks> =
  webhooks[Name]['post']['requestBody']['content']['application/json'];

export interface DeliveryOptions {
  /** The key of the signatures in base64. Receivers verify them with the same key. */
  readonly secret: string;
  /** The hosts that requests are sent to, such as `hooks.example:8443`. */
  readonly hosts: ReadonlySet<string>;
  /** The seconds before each further attempt. */
  readonly retryAfter: readonly number[];
  readonly warn: (message: string) => void;
}

/** The time limit of one request, in milliseconds. */
const TIMEOUT = 10_000;

/**
 * Sends webhooks and callbacks at least once, each with a signature as in Standard Webhooks
 * (https://www.standardwebhooks.com). They are stored with the change that they tell about, so that
 * a crash loses none. Receivers drop those whose `webhook-id` they have seen.
 */
export function openDeliveries(db: DatabaseSync, document: Document, options: DeliveryOptions) {
  db.exec(`CREATE TABLE IF NOT EXISTS deliveries (
    id TEXT PRIMARY KEY, url TEXT NOT NULL, body TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL) STRICT`);
  const insert = db.prepare('INSERT INTO deliveries (id, url, body, due) VALUES (?, ?, ?, ?)');
  const nextDue = db.prepare('SELECT * FROM deliveries ORDER BY due LIMIT 1');
  const postpone = db.prepare(
    'UPDATE deliveries SET attempts = attempts + 1, due = ? WHERE id = ?',
  );
  const remove = db.prepare('DELETE FROM deliveries WHERE id = ?');
  const { secret, hosts, retryAfter, warn } = options;
  const webhook = new Webhook(secret);
  const { schemas } = document;
  const stopping = new AbortController();
  let sending: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  /** @throws {Error} if the body does not match the document. Then nothing is sent. */
  function textOf(name: string, body: unknown): string {
    const operation = document.webhooks.find(({ path }) => path === name);
    const schema = operation?.requestBody?.media[0]?.schema ?? false;
    const { value, violations = [] } = schemas.at(schema, 'response').check(body);
    const [violation] = violations;
    if (violation !== undefined) throw new Error(`${name}: ${violation.path} ${violation.message}`);
    return String(stringifyJson(value));
  }

  async function deliver(id: string, url: string, body: string): Promise<void> {
    const timestamp = new Date();
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(timestamp.getTime() / 1000)),
        'webhook-signature': webhook.sign(id, timestamp, body),
      },
      body,
      // A receiver could otherwise lead the request to another host.
      redirect: 'error',
      signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(TIMEOUT)]),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the receiver responded with ${response.status}`);
  }

  async function attempt(row: Record<string, SQLOutputValue>): Promise<void> {
    const id = String(row.id);
    const url = String(row.url);
    try {
      await deliver(id, url, String(row.body));
      remove.run(id);
    } catch (error) {
      if (stopping.signal.aborted) return;
      const seconds = retryAfter[Number(row.attempts)];
      const next = seconds === undefined ? 'it is dropped' : `the next attempt is in ${seconds} s`;
      warn(`the webhook ${id} did not reach ${new URL(url).host}: ${error}; ${next}`);
      if (seconds === undefined) remove.run(id);
      else postpone.run(Date.now() + seconds * 1000, id);
    }
  }

  /** Sends what is due, one after the other, and sets a timer for the next attempt. */
  async function sendDue(): Promise<void> {
    clearTimeout(timer);
    for (let row = nextDue.get(); row !== undefined; row = nextDue.get()) {
      if (stopping.signal.aborted) return;
      const wait = Number(row.due) - Date.now();
      if (wait > 0) {
        timer = setTimeout(send, wait);
        return;
      }
      await attempt(row);
    }
  }

  function send(): void {
    sending = sending.then(sendDue);
  }
  send();

  return {
    /** Returns false for URLs that nothing is sent to: clients must not reach internal servers. */
    accepts: (url: string): boolean => hosts.has(URL.parse(url)?.host ?? ''),
    /**
     * Stores a request to a webhook or callback, within the caller's transaction.
     *
     * @throws {Error} if the body does not match the document.
     */
    add<Name extends keyof webhooks>(name: Name, url: string, body: BodyOf<Name>): void {
      insert.run(randomUUID(), url, textOf(name, body), Date.now());
    },
    /** Sends what was added. Called after the commit. */
    send,
    async close(): Promise<void> {
      stopping.abort();
      await sending;
      clearTimeout(timer);
    },
  };
}
