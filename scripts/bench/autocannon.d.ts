/** The parts of autocannon that the benchmark uses; its published types lack `getRequestBuffer`. */
declare module 'autocannon' {
  interface Client {
    /** Returns the next request. */
    getRequestBuffer: () => string;
  }

  interface Options {
    readonly url: string;
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
    /** Milliseconds between checks of the clock. A run ends at one of them. */
    readonly sampleInt: number;
    readonly setupClient: (client: Client) => void;
  }

  interface Totals {
    readonly '2xx': number;
    readonly non2xx: number;
    /** Broken connections and timeouts. */
    readonly errors: number;
  }

  interface Run extends PromiseLike<Totals> {
    on(event: 'start', listener: () => void): this;
    on(
      event: 'response',
      listener: (client: Client, status: number, bytes: number, milliseconds: number) => void,
    ): this;
  }

  export default function autocannon(options: Options): Run;
}
