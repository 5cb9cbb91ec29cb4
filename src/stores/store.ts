import type { OpenContext } from 'spec-first-server';

/** A plant as a store keeps it. */
export interface StoredPlant {
  /** From −2⁶³ to 2⁶³−1. Several plants may share one. */
  readonly id: bigint;
  readonly name: string;
  /** `undefined` if the plant has no tag. That differs from an empty tag. */
  readonly tag?: string | undefined;
}

/** Keeps plants. Whoever opens a store closes it. */
export interface PlantStore {
  /** Where the plants are, without user and password. */
  readonly location: string;
  /**
   * Keeps the plant; the same id, name and tag only once. Resolves after the commit that holds the plant, never before.
   *
   * @throws {Unstorable} if the store cannot hold a string exactly.
   * @throws {Unavailable} if the store cannot be reached, its disk is full or too many plants wait. The plant may have
   *   been stored all the same: sending it again is safe.
   */
  add(plant: StoredPlant): Promise<void>;
  /** @throws {Unavailable} if a plant could not be added now. */
  ready(): Promise<void>;
  /** What can be measured now, by name: how many plants are `waiting`, and more. */
  stats(): Readonly<Record<string, number>>;
  /** Finishes what waits, then closes the database. */
  close(): Promise<void>;
}

/** How a store is opened. */
export interface StoreOptions extends Partial<Omit<OpenContext, 'workers'>> {
  /** How many plants may wait; further ones are rejected. */
  readonly maxWaiting: number;
  /** The password of PostgreSQL, asked for at each connection. By default that of the URL. */
  readonly password?: (() => Promise<string>) | undefined;
}

/** The store cannot hold a plant exactly. The properties follow http-errors: the message goes to the client. */
export class Unstorable extends Error {
  override readonly name = 'Unstorable';
  readonly status = 400;
  readonly expose = true;
}

/** @throws {Unstorable} if the id is no int64, or a text holds a lone surrogate, which UTF-8 would replace. */
export function checkPlant({ id, name, tag }: StoredPlant): void {
  if (BigInt.asIntN(64, id) !== id) throw new Unstorable('/body/id must be an integer from -2^63 to 2^63-1');
  checkText('/body/name', name);
  checkText('/body/tag', tag);
}

function checkText(path: string, text = ''): void {
  if (!text.isWellFormed()) throw new Unstorable(`${path} must not hold a lone surrogate, which UTF-8 cannot hold`);
}
