import { Unavailable } from 'spec-first-server';

/** A plant as a store keeps it. */
export interface StoredPlant {
  /** −2⁶³ to 2⁶³−1; the primary key. */
  readonly id: bigint;
  readonly name: string;
  /** `undefined` where the plant has no tag, which is another content than an empty one. */
  readonly tag?: string | undefined;
}

/**
 * What became of a plant: `added` is new, `unchanged` was there with the same name and tag (a client's retry),
 * `conflict` is there with other content, which stays as it was.
 */
export type AddOutcome = 'added' | 'unchanged' | 'conflict';

/** Keeps plants. Whoever opens a store closes it. */
export interface PlantStore {
  /**
   * Resolves after the commit that holds the plant, never before.
   *
   * @throws {Unstorable} if the store cannot hold a string exactly; nothing is stored.
   * @throws {StoreUnavailable} if the store cannot be reached, is full or has too much waiting. The plant may have been
   *   stored all the same, if the answer was lost: sending it again is safe.
   */
  add(plant: StoredPlant): Promise<AddOutcome>;

  /** @throws {StoreUnavailable} if a plant could not be added now. */
  ready(): Promise<void>;

  /** How much waits for the store, for metrics. */
  stats(): { readonly waiting: number };

  /** Finishes what is waiting, then lets go of everything. */
  close(): Promise<void>;
}

/** The store cannot answer now, though it may later. `cause` holds the reason, for the log only. */
export class StoreUnavailable extends Unavailable {
  override readonly name = 'StoreUnavailable';

  constructor(message: string, options: { cause?: unknown; retryAfter?: number } = {}) {
    super(message, options.retryAfter ?? 1, options.cause);
  }
}

/** A value that the store cannot hold exactly. The message is fit for the client: it names the property and the reason. */
export class Unstorable extends Error {
  override readonly name = 'Unstorable';
}

/** @throws {Unstorable} if no store holds the plant exactly: an id beyond int64, or text that is not well-formed Unicode. */
export function proveStorable({ id, name, tag = '' }: StoredPlant): void {
  if (BigInt.asIntN(64, id) !== id) throw new Unstorable('/body/id must be an integer from -2^63 to 2^63-1');
  for (const [path, text] of [['/body/name', name] as const, ['/body/tag', tag] as const]) {
    if (!text.isWellFormed()) throw new Unstorable(`${path} must not hold a lone surrogate, which UTF-8 cannot hold`);
  }
}

/** The store cannot be opened, and waiting would not mend it. The message says what is wrong and what would be right. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
}
