import { setTimeout as delay } from 'node:timers/promises';

/** How often a closed gate looks for new connections. */
const CHECKS = 5;

/** How long a gate waits at most until no connection comes. Milliseconds. */
const LONGEST_WAIT = 1_000;

/**
 * Holds back requests while the port closes. Connections that wait to be accepted are reset by that, so it must happen
 * while there are none: clients that wait for answers open no connection.
 */
export class Gate {
  /** How many connections have come. */
  connections = 0;
  #held: (() => void)[] | undefined;

  get isClosed(): boolean {
    return this.#held !== undefined;
  }

  /** Calls `begin` when the gate opens. */
  hold(begin: () => void): void {
    this.#held?.push(begin);
  }

  /**
   * Closes the gate. Resolves when no connection comes any more.
   *
   * @param quiet for how long none has to come. Milliseconds.
   * @param allAccepted resolves when all connections so far have come, where another process accepts them for this one.
   */
  async close(quiet: number, allAccepted: () => Promise<void> = async () => undefined): Promise<void> {
    this.#held = [];
    const latest = performance.now() + LONGEST_WAIT;
    for (let checks = 0; checks < CHECKS && performance.now() < latest; checks += 1) {
      const before = this.connections;
      await delay(quiet / CHECKS);
      await allAccepted();
      if (this.connections > before) checks = -1;
    }
  }

  /** Opens the gate, and begins what it has held back. */
  open(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const begin of held) begin();
  }
}
