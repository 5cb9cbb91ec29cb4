import { setTimeout as delay } from 'node:timers/promises';

/** How often a hold looks for new connections. */
const CHECKS = 5;

/** How long a hold waits at most until no connection comes. Milliseconds. */
const LONGEST_WAIT = 1_000;

/**
 * Holds requests back while the port closes. Connections that wait to be accepted are reset by that, so it must happen
 * while there are none: clients that wait for answers open no connection.
 */
export class RequestHold {
  /** How many connections have come. */
  connections = 0;
  #held: (() => void)[] | undefined;

  /** Calls `begin`: at once, or when the requests are released. */
  begin(begin: () => void): void {
    if (this.#held === undefined) begin();
    else this.#held.push(begin);
  }

  /**
   * Holds all requests from now on. Resolves when no connection comes any more.
   *
   * @param quiet for how long none has to come. Milliseconds.
   * @param allAccepted resolves when all connections so far have come, where another process accepts them for this one.
   */
  async start(quiet: number, allAccepted: () => Promise<void> = async () => undefined): Promise<void> {
    this.#held = [];
    const latest = performance.now() + LONGEST_WAIT;
    for (let checks = 0; checks < CHECKS && performance.now() < latest; checks += 1) {
      const before = this.connections;
      await delay(quiet / CHECKS);
      await allAccepted();
      if (this.connections > before) checks = -1;
    }
  }

  /** Begins what was held back. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const begin of held) begin();
  }
}
