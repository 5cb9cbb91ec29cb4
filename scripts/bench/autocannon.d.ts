/** What the benchmark uses of autocannon, which brings no types. */
declare module 'autocannon' {
  interface Client {
    /** The bytes of the next request. */
    getRequestBuffer: () => string;
  }

  interface Options {
    readonly url: string;
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
    /** Milliseconds between two looks at the clock; a run ends at one of them. */
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
