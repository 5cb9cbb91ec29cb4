import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { randomValues } from 'test-support/random-values';
import { parseResponses, request } from 'test-support/raw-http';
import { Resources } from '../../src/http/resources.ts';
import { listenLocally } from './support.ts';

interface Part {
  readonly head?: Readonly<Record<string, string>>;
  readonly bytes?: string;
  /** The number of bytes of the decoded body. */
  readonly size?: number;
  /**
   * True if the connection may close after the response: the rest of the body may be large, or the
   * client may not send it.
   */
  readonly mayClose?: boolean;
  /** True if the connection closes after the response of the app. */
  readonly isLast?: boolean;
  /** True if the server may reject the request. The connection then closes, too. */
  readonly isFaulty?: boolean;
}

const BODIES = {
  none: {},
  small: { head: { 'Content-Length': '6' }, bytes: 'a\r\n\r\nb', size: 6 },
  large: {
    head: { 'Content-Length': '70000' },
    bytes: 'x'.repeat(70_000),
    size: 70_000,
    mayClose: true,
  },
  chunked: {
    head: { 'Transfer-Encoding': 'chunked' },
    bytes: `${'1\r\nx\r\n'.repeat(50)}6\r\na\r\n\r\nb\r\n0\r\n\r\n`,
    size: 56,
    mayClose: true,
  },
  'invalid chunks': {
    head: { 'Transfer-Encoding': 'chunked' },
    bytes: '1\r\nx\r\nno size\r\n',
    isFaulty: true,
  },
} satisfies Record<string, Part>;

const HEADERS = {
  none: {},
  expect: { head: { Expect: '100-continue' }, mayClose: true },
  close: { head: { Connection: 'close' }, isLast: true },
  upgrade: { head: { Connection: 'Upgrade', Upgrade: 'websocket' }, isLast: true },
  'another expectation': { head: { Expect: 'tea' }, isFaulty: true },
  'an invalid host': { head: { Host: 'a/b' }, isFaulty: true },
} satisfies Record<string, Part>;

const namesOf = <Name extends string>(table: Record<Name, Part>) =>
  fc.constantFrom(...(Object.keys(table) as Name[]));

const requests = fc.record({
  answer: fc.constantFrom('now', 'after the body', 'when released', 'in parts'),
  body: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('none' as const, 'small' as const) },
    { weight: 2, arbitrary: namesOf(BODIES) },
  ),
  headers: fc.oneof(
    { weight: 9, arbitrary: fc.constant('none' as const) },
    { weight: 1, arbitrary: namesOf(HEADERS) },
  ),
  /** The part of the request that is sent first. */
  cut: fc.constantFrom(0.1, 0.5, 0.9, 1),
});
type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;
type Request = ValueOf<typeof requests>;

/** A number of rounds of the event loop after a step; 0 joins the next bytes to those before. */
const rounds = fc.constantFrom(0, 0, 1, 3, 10);
const actions = fc.constantFrom('release', 'release', 'pause', 'resume', 'drain', 'garbage');
const scripts = fc.record({
  steps: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ send: requests, rounds }) },
      { weight: 2, arbitrary: fc.record({ action: actions, rounds }) },
    ),
    { minLength: 1, maxLength: 12 },
  ),
  end: fc.constantFrom('reads all', 'half-closes', 'half-closes in a request', 'resets'),
});
type Script = ValueOf<typeof scripts>;

const NEVER = 600_000;
/** No timer closes a connection, except idle ones during a stop. */
const LIMITS = {
  headersTimeout: NEVER,
  requestTimeout: NEVER,
  keepAliveTimeout: NEVER,
  idleTimeout: NEVER,
  lingerTimeout: NEVER,
  maxLinger: NEVER,
  arrivalStopTimeout: NEVER,
  maxArrivalStop: NEVER,
  stopTimeout: NEVER,
  idleStopTimeout: 0,
  quietTimeout: 0,
};

/** Waits for a condition. @returns false if it does not hold in time. */
async function until(condition: () => boolean): Promise<boolean> {
  const deadline = performance.now() + 2_000;
  while (!condition() && performance.now() < deadline) await delay(1);
  return condition();
}

/** A client with one connection, and the part of the app that answers it. */
class Client {
  readonly #socket: Socket;
  readonly #sent: (Part & { readonly answer: Request['answer']; readonly text: string })[] = [];
  readonly #chunks: Buffer[] = [];
  readonly #held: (() => void)[] = [];
  readonly violations: string[] = [];
  #unsent = '';
  #served = 0;
  #isServing = false;
  #isReleasing = false;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.#socket.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
    this.#socket.on('error', ({ message }) => this.violations.push(message));
  }

  /** Answers the request with a number. */
  serve(number: number, received: IncomingMessage, response: ServerResponse): void {
    const { answer, text = '', size = 0 } = this.#sent[number] ?? {};
    if (this.#isServing) this.violations.push(`${number} is served beside another request`);
    this.#served += 1;
    this.#isServing = true;
    // One of Node's parser, and one of the server.
    const listeners = received.socket.listenerCount('data');
    if (listeners > 2) this.violations.push(`${number} has ${listeners} listeners for data`);
    // Before the listener of the server, which begins the next request.
    response.prependListener('close', () => {
      this.#isServing = false;
    });
    // The client may reset the connection.
    received.on('error', () => undefined);
    const end = () => {
      if (answer === 'in parts') response.end(text.slice(1));
      else if (!response.headersSent) response.end(text);
    };
    if (answer === 'now') end();
    else if (answer === 'after the body') {
      let bytes = 0;
      received.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      received.on('end', () => {
        if (bytes !== size) this.violations.push(`${number} has ${bytes} bytes`);
        end();
      });
    } else {
      if (answer === 'in parts') response.write(text.slice(0, 1));
      if (this.#isReleasing) setImmediate(end);
      else this.#held.push(end);
    }
  }

  async run({ steps, end }: Script, server: Server): Promise<void> {
    for (const { rounds: count, ...step } of steps) {
      if ('send' in step) await this.#send(step.send, server);
      else this.#act(step.action, server);
      await this.#wait(count);
    }
    if (end === 'half-closes in a request') {
      this.#unsent += 'POST / HT';
      this.#sent.push({ answer: 'now', text: '', isFaulty: true });
    }
    this.#flush();
    this.#isReleasing = true;
    for (const release of this.#held.splice(0)) release();
    this.#socket.resume();
    if (end === 'resets') this.#socket.resetAndDestroy();
    else if (end === 'reads all') await until(() => this.#isAnswered());
    if (end !== 'resets') this.#socket.end();
    if (!(await until(() => this.#socket.closed))) this.violations.push('it stays open');
  }

  async #send({ answer, body, headers, cut }: Request, server: Server): Promise<void> {
    const number = this.#sent.length;
    // Node drops the bytes after a head with `Upgrade`.
    const parts: Part[] = [BODIES[headers === 'upgrade' ? 'none' : body], HEADERS[headers]];
    const text = `${number}:`;
    this.#sent.push(Object.assign({ answer, text }, ...parts));
    const head = Object.assign({}, ...parts.map((part) => part.head));
    const bytes = request(`POST /${server.clients.indexOf(this)}/${number}`, head);
    const whole = bytes + (parts[0]?.bytes ?? '');
    const first = Math.ceil(whole.length * cut);
    this.#unsent += whole.slice(0, first);
    if (cut < 1) await this.#wait(2);
    this.#unsent += whole.slice(first);
  }

  #act(action: ValueOf<typeof actions>, server: Server): void {
    if (action === 'release') this.#held.shift()?.();
    else if (action === 'drain') server.drain();
    else if (action === 'garbage') {
      this.#unsent += 'no request\r\n\r\n';
      this.#sent.push({ answer: 'now', text: '', isFaulty: true });
    } else this.#socket[action]();
  }

  async #wait(count: number): Promise<void> {
    if (count > 0) this.#flush();
    for (let round = 0; round < count; round += 1) await immediate();
  }

  #flush(): void {
    // The server has ended its side, but reads on.
    if (this.#unsent !== '' && this.#socket.writable) this.#socket.write(this.#unsent, 'latin1');
    this.#unsent = '';
  }

  /** The final responses, and the bytes after them. */
  #received() {
    const { responses, rest } = parseResponses(Buffer.concat(this.#chunks));
    return { responses: responses.filter(({ status }) => status >= 200), rest };
  }

  #isAnswered(): boolean {
    const { responses } = this.#received();
    return responses.length === this.#sent.length || this.#socket.readableEnded;
  }

  /** Returns the differences between the responses and the requests. */
  findings({ end }: Script, { mayClose }: Server): readonly string[] {
    const { responses, rest } = this.#received();
    const found = [...this.violations];
    const isCut = end === 'resets';
    for (const [index, { status, headers, body }] of responses.entries()) {
      const sent = this.#sent[index];
      const isClosing = headers.connection === 'close';
      const isLast = index === responses.length - 1;
      if (sent === undefined) found.push(`${index} was not sent`);
      else if (status !== 200) {
        if (!sent.isFaulty || !isClosing) found.push(`${index} is rejected with ${status}`);
      } else {
        if (String(body) !== sent.text) found.push(`${index} has another response`);
        const isAllowed = sent.isLast || sent.mayClose || sent.isFaulty || mayClose;
        if (isClosing && !isAllowed) found.push(`${index} closes the connection`);
      }
      if (isClosing !== isLast && (isClosing || sent?.isLast || sent?.isFaulty))
        found.push(`${index} is followed by another response`);
    }
    if (isCut) return found;
    if (rest !== '') found.push(`other bytes: ${rest.slice(0, 100)}`);
    const isClosed = responses.at(-1)?.headers.connection === 'close';
    const [next] = this.#sent.slice(responses.length);
    // Node ends a connection that its client has half-closed after the last request.
    const isFaulty = next?.isFaulty && end !== 'reads all';
    if (!isClosed && next !== undefined && !isFaulty && !mayClose) found.push('no response');
    if (this.#served > responses.length) found.push('the app got further requests');
    return found;
  }
}

/** A server with an app for several clients. */
class Server {
  readonly resources = new Resources();
  readonly clients: Client[] = [];
  /** True if each response may close its connection. */
  mayClose = false;
  #listening: Awaited<ReturnType<typeof listenLocally>> | undefined;

  async start(clients: number): Promise<void> {
    this.#listening = await listenLocally(
      (received, response) => {
        const [, client, number] = String(received.url).split('/', 3).map(Number);
        this.clients[client ?? -1]?.serve(number ?? -1, received, response);
      },
      { resources: this.resources, limits: LIMITS },
    );
    for (let count = 0; count < clients; count += 1) {
      this.clients.push(new Client(this.#listening.port));
    }
  }

  drain(): void {
    this.mayClose = true;
    this.#listening?.drain();
  }

  /** @returns false if it does not end in time. */
  async stop(): Promise<boolean> {
    let isStopped = false;
    void this.#listening?.stop().then(() => {
      isStopped = true;
    });
    return until(() => isStopped);
  }
}

test('clients get one response to each request, in order, until the connection closes', async () => {
  const { bytesLeft } = new Resources().memory;
  const clients = fc.array(scripts, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(clients, async (all) => {
      const server = new Server();
      await server.start(all.length);
      const runs = all.map((script, index) => server.clients[index]?.run(script, server));
      await Promise.all(runs);
      const isStopped = await server.stop();
      const found = all.map((script, index) => server.clients[index]?.findings(script, server));
      expect([isStopped, ...found]).toEqual([true, ...all.map(() => [])]);
      expect(server.resources.memory.bytesLeft).toBe(bytesLeft);
    }),
    { ...randomValues(100), endOnFailure: false },
  );
});
